from django.apps import AppConfig


class DlqConfig(AppConfig):
    name = "dlq"
    verbose_name = "Dead letters"

    def ready(self) -> None:
        from dashboard import attention
        from dashboard.runs.kinds import Panel, add_panel
        from dlq.needs import find_stopped_replays, find_worst_groups
        from dlq.queries.replay_run import describe_run
        from dlq.targets import check_targets

        add_panel("replay", Panel("dlq/_replay_run.html", describe_run))
        attention.register(find_stopped_replays)
        attention.register(find_worst_groups)
        check_targets()
