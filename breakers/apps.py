from django.apps import AppConfig


class BreakersConfig(AppConfig):
    name = "breakers"

    def ready(self) -> None:
        from breakers.foreign.registry import list_readers
        from breakers.needs import find_open
        from dashboard import attention

        attention.register(find_open, rank=3)
        # A reader that makes no sense stops the start, not the first scan.
        list_readers()
