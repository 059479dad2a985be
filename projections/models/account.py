from django.db import models
from django.db.models.functions import Now

from projections.models.projection import Projection


class Span(models.Model):
    """Positions that are done with, without a hole: what the handler did or ignored, or a letter that was closed.

    A batch appends one for each unbroken run of positions it really saw; beat joins neighbours. A hole between
    spans is an event that must be on record elsewhere: that is what the accounting looks at.
    """

    projection = models.ForeignKey(Projection, models.CASCADE, related_name="spans", db_index=False)
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    ignored_count = models.BigIntegerField(default=0)
    # Letters that were closed: forgotten there some day, and not missing for that.
    closed_count = models.BigIntegerField(default=0)
    # Skips that were forgotten together with their events; see pruning.py.
    skipped_count = models.BigIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["projection", "first"], name="span_projection")]

    def __str__(self) -> str:
        return f"{self.first}–{self.last}"


class Skip(models.Model):
    """An event that a projection went past without its effect, and why; it can be brought back as a letter."""

    projection = models.ForeignKey(Projection, models.CASCADE, related_name="skips", db_index=False)
    position = models.BigIntegerField()
    event_id = models.UUIDField()
    event_type = models.TextField()
    stream = models.TextField()
    # `policy`, or the person who decided.
    actor = models.TextField()
    reason = models.TextField()
    error_type = models.TextField(blank=True)
    error_message = models.TextField(blank=True)
    stacktrace = models.TextField(blank=True)
    attempt = models.IntegerField(default=0)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["projection", "position"], name="skip_key")]
        indexes = [
            models.Index(fields=["-at", "-id"], name="skip_at"),
            models.Index(fields=["projection", "-at", "-id"], name="skip_projection_at"),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} at {self.position}"


class WaitingEvent(models.Model):
    """An event at or before the checkpoint that waits for a breaker, or behind one of its stream that does."""

    projection = models.ForeignKey(Projection, models.CASCADE, related_name="waiting", db_index=False)
    position = models.BigIntegerField()
    stream = models.TextField()
    # Empty: it waits behind an earlier event of its stream.
    breaker = models.TextField(blank=True)
    since = models.DateTimeField(db_default=Now())
    next_at = models.DateTimeField(null=True, blank=True)
    # Failed tries since it waits: a policy counts them anew.
    attempt = models.IntegerField(default=0)
    # All of its failed tries, to be told when it becomes a letter.
    tries = models.JSONField(default=list, blank=True)
    # Counted before a try and cleared after it: what is left over are tries that nobody survived.
    deaths = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["projection", "position"], name="waiting_key")]
        indexes = [models.Index(fields=["projection", "stream", "position"], name="waiting_stream")]

    def __str__(self) -> str:
        return f"{self.stream} at {self.position}"
