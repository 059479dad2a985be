from django import template

from dashboard.models import Run
from dashboard.runs.queries import Progress, name_count
from dashboard.runs.tables import find_tone

register = template.Library()


@register.filter
def run_tone(run: Run, progress: Progress | None = None) -> str:
    """The colour's meaning for the run's state, and where its progress is given for what came of it."""
    return find_tone(run, progress)


@register.filter
def run_count(number: int) -> str:
    """How many runs, as far as they are counted."""
    return name_count(number)
