from django.db import models
from django.db.models.functions import Now


class Override(models.Model):
    """What somebody decided about one event for one consumer; the runtime, replay and rebuild all honour it."""

    class Kind(models.TextChoices):
        SKIPPED = "skipped"
        DISCARDED = "discarded"
        REPLACED = "replaced"

    source = models.TextField()
    consumer = models.TextField()
    event_id = models.TextField()
    kind = models.TextField(choices=Kind.choices)
    # What was put in the event's place; kept when that is discarded, for whoever restores it.
    payload = models.JSONField(null=True, blank=True)
    actor = models.TextField()
    reason = models.TextField(blank=True)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event_id", "consumer", "source"], name="override_key"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.event_id} for {self.consumer}"
