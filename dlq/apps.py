from django.apps import AppConfig


class DlqConfig(AppConfig):
    name = "dlq"
    verbose_name = "Dead letters"

    def ready(self) -> None:
        from dashboard import attention, banners
        from dashboard.runs.kinds import Panel, add_panel
        from dlq.needs import find_left_parked, find_stopped_replays, find_worst_groups, say_stopped_replays
        from dlq.operations import replay_followers
        from dlq.queries.replay_run import describe_run, find_letters
        from dlq.runs import when_closed
        from dlq.targets import check_targets
        from dlq.verbs import VERBS

        for kind in ("replay", "reprocess"):
            add_panel(kind, Panel("dlq/_replay_run.html", describe_run))
        for kind in (*VERBS, "reclassify"):
            add_panel(kind, Panel("dlq/_run_letters.html", find_letters))
        banners.register(say_stopped_replays)
        attention.register(find_stopped_replays, rank=1)
        attention.register(find_worst_groups, rank=2)
        attention.register(find_left_parked)
        when_closed(replay_followers)
        check_targets()
