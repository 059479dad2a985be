from django.db.models.functions import Now

from projections.models import RebuildRequest

State = RebuildRequest.State


def expire() -> None:
    """A request that nobody decided in time lapses, so that it is not granted when everybody has forgotten why."""
    overdue = RebuildRequest.objects.filter(state=State.OPEN, expires_at__lt=Now())
    overdue.update(state=State.EXPIRED, decided_at=Now())
