from django.db import models
from django.db.models import Q


class ForeignRow(models.Model):
    """A foreign row as it was last seen, and its letter here: whatever differs from this has changed there.

    A letter may have several: where a table has a row for each failure, one event fails in many.
    """

    pk = models.CompositePrimaryKey("source", "key")
    source = models.TextField()
    key = models.TextField()
    # Without a constraint, as everything that is written in bulk; a trigger deletes rows with their letters.
    letter_id = models.BigIntegerField()
    # In the source's own words; empty: it has none, or the row is gone.
    status = models.TextField()
    failed_at = models.DateTimeField()
    attempts = models.IntegerField()
    is_open = models.BooleanField()
    # Until then it is looked at every time, because something was done to it; None: only when all are.
    watched_until = models.DateTimeField(null=True, blank=True)
    # Since when it was seen here in the source's word for "try again", without a move; None: it says something else.
    retrying_since = models.DateTimeField(null=True, blank=True)
    # When a replay last asked for it, and how it stood then; None: none ever did.
    asked_at = models.DateTimeField(null=True, blank=True)
    asked_failed_at = models.DateTimeField(null=True, blank=True)
    asked_attempts = models.IntegerField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["letter_id"], name="foreignrow_letter"),
            models.Index(fields=["source", "key"], name="foreignrow_open", condition=Q(is_open=True)),
            models.Index(
                fields=["source", "watched_until"],
                name="foreignrow_watched",
                condition=Q(watched_until__isnull=False),
            ),
            models.Index(
                fields=["source", "retrying_since"],
                name="foreignrow_retrying",
                condition=Q(retrying_since__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.key}"


class OwedWrite(models.Model):
    """A letter whose row may have to be changed at its source; written by a trigger, with whatever changed the letter.

    Only ever appended and deleted: the sync looks at the letter as it stands then.
    """

    source = models.TextField()
    letter_id = models.BigIntegerField()

    class Meta:
        indexes = [models.Index(fields=["source", "id"], name="owedwrite_source")]

    def __str__(self) -> str:
        return f"{self.source}: letter {self.letter_id}"


class OwedRelease(models.Model):
    """A row that somebody released: it is to get an open word of its source, if it still stands as it did."""

    source = models.TextField()
    key = models.TextField()
    # As it was when this was asked for: a row that was asked to be tried again since is left alone.
    retrying_since = models.DateTimeField()
    actor = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "key"], name="owedrelease_once")]

    def __str__(self) -> str:
        return f"{self.source} {self.key}"


class MovedRow(models.Model):
    """A row that changed at its source before what was done here could be written there; it was not overwritten."""

    source = models.TextField()
    key = models.TextField()
    letter_id = models.BigIntegerField()
    actor = models.TextField()
    # In the source's own words; empty: the row is gone.
    wanted = models.TextField()
    found = models.TextField()
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["source", "-at"], name="movedrow_source"),
            models.Index(fields=["letter_id"], name="movedrow_letter"),
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.key}: {self.found}"
