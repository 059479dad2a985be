from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from projections.models.projection import Projection


class RebuildRequest(models.Model):
    """A rebuild asked for by somebody who may not start one; somebody who may grants or denies it, or it expires."""

    class State(models.TextChoices):
        OPEN = "open"
        GRANTED = "granted"
        DENIED = "denied"
        EXPIRED = "expired"

    projection = models.ForeignKey(Projection, models.CASCADE, related_name="requests")
    state = models.TextField(choices=State.choices, default=State.OPEN)
    requested_by = models.TextField()
    requested_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    reason = models.TextField()
    decided_by = models.TextField(blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decision_reason = models.TextField(blank=True)
    # The run that a grant started.
    run = models.ForeignKey("dashboard.Run", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["projection"], name="request_one_open", condition=models.Q(state="open")
            ),
        ]
        indexes = [models.Index(fields=["-requested_at", "-id"], name="request_at")]

    def __str__(self) -> str:
        return f"request {self.pk}"

    @property
    def has_lapsed(self) -> bool:
        """Also before beat has noted it: nothing can be decided any more."""
        return self.state == self.State.EXPIRED or (
            self.state == self.State.OPEN and self.expires_at <= timezone.now()
        )
