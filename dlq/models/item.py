from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from dlq.models.letter import DeadLetter


class LetterRunItem(models.Model):
    """A letter, or an event of the store, that a run is to handle, frozen when the run was asked for.

    `id` is the order within a lane. An event has no letter, unless it fails: then it gets that of its failure.
    """

    run = models.ForeignKey("dashboard.Run", models.DO_NOTHING, db_constraint=False, db_index=False)
    lane = models.IntegerField()
    letter = models.ForeignKey(
        DeadLetter, models.DO_NOTHING, null=True, blank=True, db_constraint=False, db_index=False
    )
    # Where the event is in the store; None: it is a letter's, which says so itself.
    position = models.BigIntegerField(null=True, blank=True)
    # Empty while it waits.
    outcome = models.TextField(blank=True)
    is_active = models.BooleanField(default=True)

    # The rest is for replays. The step of the canary ladder at which it is its turn.
    rung = models.SmallIntegerField(db_default=0)
    # How many workers did not survive trying it.
    deaths = models.SmallIntegerField(db_default=0)
    # Why it was held or skipped; in a dry run, the new error that it failed with.
    note = models.TextField(blank=True, db_default="")
    # The group of its failure; None: it did not fail, or in a dry run with a new error.
    group = models.ForeignKey(
        "FailureGroup", models.DO_NOTHING, null=True, blank=True, db_constraint=False, db_index=False
    )
    # When it was sent, or else when it ended.
    at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["letter"], name="item_one_active_run", condition=Q(is_active=True)
            ),
        ]
        indexes = [
            models.Index(fields=["run", "lane", "id"], name="item_waiting", condition=Q(is_active=True)),
            models.Index(fields=["run", "outcome", "id"], name="item_outcome"),
            # Sent, and nobody has said yet what became of it.
            models.Index(
                fields=["run", "lane", "id"], name="item_sent", condition=Q(is_active=True, outcome="sent")
            ),
            # For the purge of letters, and for what a target was sent lately.
            models.Index(fields=["letter"], name="item_letter"),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id}: letter {self.letter_id}"


class ReplaySwitch(models.Model):
    """The one row that stops all replays while it exists."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    stopped_by = models.TextField()
    stopped_at = models.DateTimeField(db_default=Now())
    reason = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"replays stopped by {self.stopped_by}"
