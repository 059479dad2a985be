from django.db import models
from django.db.models import Q

from dlq.models.letter import DeadLetter


class LetterRunItem(models.Model):
    """A letter that a run is to handle, frozen when the run was asked for; `id` is the order within a lane."""

    run = models.ForeignKey("dashboard.Run", models.DO_NOTHING, db_constraint=False, db_index=False)
    lane = models.IntegerField()
    letter = models.ForeignKey(DeadLetter, models.DO_NOTHING, db_constraint=False, db_index=False)
    # Empty while it waits.
    outcome = models.TextField(blank=True)
    is_active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["letter"], name="item_one_active_run", condition=Q(is_active=True)
            ),
        ]
        indexes = [
            models.Index(fields=["run", "lane", "id"], name="item_waiting", condition=Q(is_active=True)),
            models.Index(fields=["run", "outcome", "id"], name="item_outcome"),
            # For the purge of letters.
            models.Index(fields=["letter"], name="item_letter"),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id}: letter {self.letter_id}"
