from django.apps import AppConfig


class SourcesConfig(AppConfig):
    name = "sources"

    def ready(self) -> None:
        from sources import kinds  # noqa: F401 - registers them
        from sources.registry import list_sources

        # A source that makes no sense stops the start, not the first look.
        list_sources()
