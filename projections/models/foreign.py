from datetime import timedelta

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from dashboard.config import every_seconds

# A source is asked every few seconds; after this long what it said last is no longer the truth.
STALE_AFTER = timedelta(seconds=60)


class ForeignProjection(models.Model):
    """A projection that another system runs: what its checkpoint said when the source was last read."""

    class State(models.TextChoices):
        RUNNING = "running"
        # It is there or may be there, events wait, and its checkpoint does not move.
        STALLED = "stalled"
        STOPPED = "stopped"
        UNKNOWN = "unknown"

    class Bound(models.TextChoices):
        """How to read the lag."""

        EXACT = "", "exactly"
        AT_MOST = "at_most", "at most"
        AT_LEAST = "at_least", "at least"

    source = models.TextField()
    name = models.TextField()
    read_at = models.DateTimeField(db_default=Now())

    # False: there is none, so that it would begin at the first event.
    has_checkpoint = models.BooleanField(default=True)
    # As its owner writes it, and as a number where it is one.
    checkpoint = models.TextField(blank=True)
    position = models.BigIntegerField(null=True, blank=True)
    # Whatever changes when the checkpoint is written: what a reset compares before it touches anything.
    stamp = models.TextField(blank=True)
    head = models.BigIntegerField(null=True, blank=True)
    last_event_id = models.TextField(blank=True)
    last_event_type = models.TextField(blank=True)
    written_at = models.DateTimeField(null=True, blank=True)
    # When it was last seen to move, by our clock.
    moved_at = models.DateTimeField(null=True, blank=True)

    # None: not known, and `lag_note` says why.
    lag = models.BigIntegerField(null=True, blank=True)
    lag_bound = models.TextField(choices=Bound.choices, blank=True, default=Bound.EXACT)
    lag_note = models.TextField(blank=True)
    oldest_at = models.DateTimeField(null=True, blank=True)

    state = models.TextField(choices=State.choices, default=State.UNKNOWN)
    state_since = models.DateTimeField(db_default=Now())
    evidence = models.TextField(blank=True)
    # The name under which its worker is looked for; empty: nobody said.
    worker = models.TextField(blank=True)
    # When that one was last seen; None: never, so that not seeing it proves nothing.
    worker_seen_at = models.DateTimeField(null=True, blank=True)
    # Events past which the checkpoint went without a trace: a sentence, a number, and names; see docs.
    unaccounted = models.JSONField(default=dict, blank=True)
    # The latest reset from here: when, by which run, and what became of it.
    reset = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="foreign_projection_key")]

    def __str__(self) -> str:
        return f"{self.source}/{self.name}"

    @property
    def is_stale(self) -> bool:
        return timezone.now() - self.read_at > find_stale_after(self.source)

    @property
    def is_worker_seen(self) -> bool:
        """At the last look, not before."""
        return self.worker_seen_at == self.read_at

    @property
    def delay_seconds(self) -> float | None:
        """The age of the oldest event that it has not come to; None: none waits, or nobody can tell."""
        if self.oldest_at is None:
            return None
        return max((timezone.now() - self.oldest_at).total_seconds(), 0.0)


def find_stale_after(source: str) -> timedelta:
    """As long as its health waits for a look: one that is asked seldom, as redrive.toml says, is known in between."""
    return max(STALE_AFTER, timedelta(seconds=3 * every_seconds(settings.SOURCES.get(source, {}))))


class ForeignSample(models.Model):
    """How far behind a foreign projection was at a moment; beat takes one every half minute."""

    projection = models.ForeignKey(ForeignProjection, models.CASCADE, related_name="samples", db_index=False)
    at = models.DateTimeField()
    head = models.BigIntegerField(null=True, blank=True)
    position = models.BigIntegerField(null=True, blank=True)
    lag = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["projection", "at"], name="foreign_sample_key")]
        indexes = [models.Index(fields=["at"], name="foreign_sample_time")]

    def __str__(self) -> str:
        return f"{self.projection_id} at {self.at:%Y-%m-%d %H:%M:%S}: {self.lag}"
