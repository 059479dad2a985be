"""The panel of an empty console: what to do first."""

from django.conf import settings

from breakers.models import Breaker
from dlq.models import FailureGroup
from projections.models import ForeignProjection, Projection

# A row of any of these came from somewhere; every failure has a group.
TRACES = (Projection, FailureGroup, Breaker, ForeignProjection)


def is_untouched(user: object) -> bool:
    """Whether no source is named and nothing was ever recorded; asks for one row of each, and mostly of the first."""
    return not settings.SOURCES and not any(model.objects.exists() for model in TRACES)
