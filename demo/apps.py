from django.apps import AppConfig


class DemoConfig(AppConfig):
    """A small shop with escrow that really runs on the runtime, and really fails."""

    name = "demo"

    def ready(self) -> None:
        from dashboard import banners, navigation, overview_panels
        from dashboard.embedded.applications import run_beside
        from demo.queries import say_past
        from demo.visit import find_visit

        run_beside("shop", "shop")
        banners.register(say_past)
        navigation.add("demo:shop", "Demo", "m")
        overview_panels.register(
            "first-visit", title="Your first visit", template="demo/_visit.html", find=find_visit
        )
