from django.apps import AppConfig


class DlqConfig(AppConfig):
    name = "dlq"
    verbose_name = "Dead letters"

    def ready(self) -> None:
        from dashboard import attention
        from dlq.needs import find_stopped_replays, find_worst_groups

        attention.register(find_stopped_replays)
        attention.register(find_worst_groups)
