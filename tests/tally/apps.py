from django.apps import AppConfig


class TallyConfig(AppConfig):
    """The smallest run kind there is, to prove the base of runs with."""

    name = "tests.tally"
    label = "tally"
