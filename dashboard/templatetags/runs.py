from django import template

from dashboard.models import Run
from dashboard.runs.tables import STATE_TONES

register = template.Library()


@register.filter
def run_tone(run: Run) -> str:
    """The colour's meaning for the run's state."""
    return STATE_TONES[Run.State(run.state)]
