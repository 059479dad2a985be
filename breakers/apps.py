from django.apps import AppConfig


class BreakersConfig(AppConfig):
    name = "breakers"

    def ready(self) -> None:
        from breakers.foreign.registry import list_readers
        from breakers.needs import find_open
        from breakers.profiles import list_profiles
        from dashboard import attention

        # A reader or a profile that makes no sense stops the start, not the first scan or the first call.
        list_readers()
        list_profiles()
        attention.register(find_open, rank=3)
