from django.db import models

from dlq.models.letter import DeadLetter
from dlq.models.words import Category


class Attempt(models.Model):
    """Every try of an event, original or replay; the same try reported twice is one row."""

    class Outcome(models.TextChoices):
        FAILED = "failed"
        SUCCEEDED = "succeeded"

    pk = models.CompositePrimaryKey("letter", "at")
    letter = models.ForeignKey(
        DeadLetter, models.DO_NOTHING, related_name="tries", db_constraint=False, db_index=False
    )
    at = models.DateTimeField()
    duration_ms = models.IntegerField(null=True, blank=True)
    outcome = models.TextField(choices=Outcome.choices, default=Outcome.FAILED)
    error_type = models.TextField(blank=True)
    # Cut to what a timeline shows; the letter's body has the latest in full.
    error_message = models.TextField(blank=True)
    category = models.TextField(blank=True, choices=Category.choices)
    group = models.ForeignKey(
        "FailureGroup", models.DO_NOTHING, null=True, blank=True, db_constraint=False, db_index=False
    )
    # The replay that tried; None: the consumer itself did.
    run = models.ForeignKey(
        "dashboard.Run", models.DO_NOTHING, null=True, blank=True, db_constraint=False, db_index=False
    )

    def __str__(self) -> str:
        return f"attempt of letter {self.letter_id} at {self.at:%Y-%m-%d %H:%M:%S}"
