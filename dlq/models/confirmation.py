from django.db import models
from django.db.models.functions import Now

from dlq.models.item import LetterRunItem


class Confirmation(models.Model):
    """What a consumer called back to say about something that was sent to it; said twice, it is one row."""

    class Outcome(models.TextChoices):
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    item = models.OneToOneField(
        LetterRunItem, models.DO_NOTHING, primary_key=True, related_name="confirmation", db_constraint=False
    )
    outcome = models.TextField(choices=Outcome.choices)
    error_type = models.TextField(blank=True)
    error_message = models.TextField(blank=True)
    stacktrace = models.TextField(blank=True)
    at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"item {self.item_id} {self.outcome}"
