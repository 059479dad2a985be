from django.apps import AppConfig


class ShopConfig(AppConfig):
    """A small application with projections, as a user of the runtime would write it, and ways to make them fail."""

    name = "tests.shop"
    label = "shop"
