from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

# Others' breakers are looked at every ten seconds, ours every two: a loaded machine may miss a look or two.
READ_WITHIN = timedelta(seconds=30)


class State(models.TextChoices):
    CLOSED = "closed"
    HALF_OPEN = "half_open", "Half open"
    OPEN = "open"


class Breaker(models.Model):
    """A breaker that was heard of, with the state that was last heard; what ours are doing now only Redis knows."""

    # Ours live in the console's Redis; the other sources are the readers of other libraries' breakers.
    OURS = "redrive"

    source = models.CharField(max_length=100, default=OURS)
    name = models.CharField(max_length=500)
    state = models.CharField(max_length=10, choices=State.choices, default=State.CLOSED)
    changed_at = models.DateTimeField(db_default=Now())
    # When it left closed; None while it is closed, or if its library does not say.
    left_closed_at = models.DateTimeField(null=True, blank=True)
    # When it will be tried again; None if it is closed, held, or if its library does not say.
    retry_at = models.DateTimeField(null=True, blank=True)
    # For other libraries' breakers; None where the library counts nothing.
    failure_count = models.PositiveBigIntegerField(null=True, blank=True)
    last_error = models.TextField(blank=True)
    policy = models.JSONField(default=dict)
    used_by = ArrayField(models.TextField(), default=list)
    seen_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="breaker_source_name")]
        indexes = [
            models.Index(fields=["-changed_at", "-id"], name="breaker_changed"),
            models.Index(fields=["-seen_at"], name="breaker_seen"),
            models.Index(
                fields=["source"], name="breaker_not_closed", condition=~models.Q(state=State.CLOSED)
            ),
        ]

    def __str__(self) -> str:
        return self.name if self.source == self.OURS else f"{self.source} {self.name}"


class Transition(models.Model):
    """A change of a breaker's state: when, from what to what, and why."""

    # The cause of one that is noted as closed because nobody reads it any more: how it is now is unknown.
    NO_LONGER_READ = "no longer read"

    breaker = models.ForeignKey(Breaker, on_delete=models.CASCADE, related_name="transitions", db_index=False)
    at = models.DateTimeField()
    from_state = models.CharField(max_length=10, choices=State.choices)
    to_state = models.CharField(max_length=10, choices=State.choices)
    cause = models.CharField(max_length=40)
    error = models.TextField(blank=True)
    # The entry of the stream in Redis that it was copied from, once; None: seen from outside, not copied.
    stream_id = models.CharField(max_length=40, null=True, blank=True)  # noqa: DJ001

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream_id"], name="transition_stream_id")]
        indexes = [
            models.Index(fields=["breaker", "-at", "-id"], name="transition_breaker"),
            models.Index(fields=["at"], name="transition_at"),
        ]

    def __str__(self) -> str:
        return f"{self.breaker_id} {self.from_state} to {self.to_state}"


class Trip(models.Model):
    """A breaker held open by a person: here before it is in Redis, and pushed there again if Redis forgets it."""

    breaker = models.ForeignKey(Breaker, on_delete=models.PROTECT, related_name="trips")
    actor = models.CharField(max_length=150)
    reason = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    # None: until somebody resets the breaker.
    expires_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    ended_by = models.CharField(max_length=150, blank=True)
    # Whether Redis has been told of the end.
    is_lifted = models.BooleanField(default=False)

    class Meta:
        constraints = [
            # Two operators who press at once: the second is told about the first.
            models.UniqueConstraint(
                fields=["breaker"], name="trip_one_a_breaker", condition=models.Q(ended_at=None)
            ),
        ]
        indexes = [models.Index(fields=["id"], name="trip_not_lifted", condition=models.Q(is_lifted=False))]

    def __str__(self) -> str:
        return f"trip {self.pk}"


class Reading(models.Model):
    """How far the console has read a place in Redis, and what went wrong last."""

    # The source of the breakers that are there, or the stream of transitions.
    TRANSITIONS = "redrive transitions"

    place = models.CharField(max_length=100)
    cursor = models.CharField(max_length=40, default="0")
    # When the pass under way began; None: not yet.
    began_at = models.DateTimeField(null=True, blank=True)
    # When it last answered, to a slice of a pass at least; None: never.
    read_at = models.DateTimeField(null=True, blank=True)
    # Empty: Redis answered when it was last asked.
    error = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["place"], name="reading_place")]

    def __str__(self) -> str:
        return self.place

    @property
    def is_silent(self) -> bool:
        """Whether what was read there is too old to go by."""
        return bool(self.error) or not self.read_at or timezone.now() - self.read_at > READ_WITHIN
