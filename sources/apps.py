from django.apps import AppConfig

# Two that hang still leave others their turn; they are asked more rarely by then.
WORKERS = 3


class SourcesConfig(AppConfig):
    name = "sources"

    def ready(self) -> None:
        from dashboard import attention
        from dashboard.embedded.applications import work_on
        from sources import kinds  # noqa: F401 - registers them
        from sources.masked import refuse_masked
        from sources.needs import find_moved, find_silent, find_untried
        from sources.registry import list_sources

        attention.register(find_silent, rank=3)
        attention.register(find_moved)
        attention.register(find_untried)
        # A source that makes no sense stops the start, not the first look.
        sources = list_sources()
        refuse_masked(sources)
        if sources:
            work_on("sources", concurrency=WORKERS)
