from django.db import models
from django.db.models.functions import Now


class Head(models.Model):
    """The one row that hands out positions; whoever appends holds it until commit, so positions follow commits."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    position = models.BigIntegerField(default=0)
    # Of the last event; the next one's is never before it, whatever the machine's clock does.
    recorded_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="head_is_one_row")]

    def __str__(self) -> str:
        return f"head {self.position}"


class EventType(models.Model):
    """How many events of a type there are; kept under the head's lock, so it costs writers no further wait."""

    name = models.TextField(primary_key=True)
    number = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.name}: {self.number}"


class Event(models.Model):
    """Something that happened, for ever; only `store.append` writes here."""

    # Gapless, and in the order of commits.
    position = models.BigIntegerField(primary_key=True)
    event_id = models.UUIDField()
    stream = models.TextField()
    version = models.BigIntegerField()
    type = models.TextField()
    # The number of this event among those of its type: how many follow is a subtraction, not a count.
    type_no = models.BigIntegerField()
    data = models.JSONField()
    metadata = models.JSONField(default=dict)
    # Rises with the position, so that a time is found by bisection and needs no index.
    recorded_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["event_id"], name="event_event_id"),
            models.UniqueConstraint(fields=["stream", "version"], name="event_stream_version"),
        ]
        indexes = [models.Index(fields=["type", "position"], name="event_type_position")]

    def __str__(self) -> str:
        return f"{self.type} at {self.position}"
