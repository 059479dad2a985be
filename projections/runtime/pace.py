from collections import Counter
from datetime import datetime

from django.db.models import F

from projections.models import Pace, Projection


def add_pace(row: Projection, counts: Counter[str], at: datetime) -> None:
    """Add to the projection's current minute; the caller holds its lock."""
    if not counts:
        return
    minute = at.replace(second=0, microsecond=0)
    added = {name: F(name) + number for name, number in counts.items()}
    if not Pace.objects.filter(projection=row, starts_at=minute).update(**added):
        Pace.objects.create(projection=row, starts_at=minute, **counts)
