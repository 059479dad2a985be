from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

NATIVE = "native"


class Criticality(models.TextChoices):
    """What a missing event would mean; a ledger may never skip one."""

    LEDGER = "ledger"
    STANDARD = "standard"
    BEST_EFFORT = "best_effort", "Best effort"


class Effects(models.TextChoices):
    """Where a handler leaves its mark: only in this database, in the batch's transaction, or also outside."""

    DATABASE = "database"
    EXTERNAL = "external"


class Projection(models.Model):
    """One consumer of the event store: how far it is, what holds it up, and what it was declared to be."""

    class State(models.TextChoices):
        RUNNING = "running"
        PAUSED = "paused"
        # Fatal: an event failed and its policy gave up; a person decides.
        STOPPED = "stopped"
        REBUILDING = "rebuilding"

    class Block(models.TextChoices):
        """Why the next event waits until `next_at`."""

        RETRY = "retry"
        FATAL = "fatal"
        INFRASTRUCTURE = "infrastructure"
        BREAKER = "breaker"

    source = models.TextField(default=NATIVE)
    name = models.TextField()
    # As declared in code, kept for the pages and for lag in SQL.
    event_types = ArrayField(models.TextField(), default=list)
    policy = models.TextField(blank=True)
    criticality = models.TextField(choices=Criticality.choices, default=Criticality.STANDARD)
    effects = models.TextField(choices=Effects.choices, default=Effects.DATABASE)
    # How long its policy may retry; until then a lag is no alarm.
    grace_seconds = models.FloatField(default=0)
    runbook = models.TextField(blank=True)

    state = models.TextField(choices=State.choices, default=State.RUNNING)
    state_since = models.DateTimeField(db_default=Now())
    # The last event that is done with; it moves in the transaction that did it.
    position = models.BigIntegerField(default=0)
    last_event_id = models.UUIDField(null=True, blank=True)
    last_event_type = models.TextField(blank=True)
    last_event_at = models.DateTimeField(null=True, blank=True)
    last_processed_at = models.DateTimeField(null=True, blank=True)
    # Events of its types up to the checkpoint: its lag is the types' totals less this.
    seen_count = models.BigIntegerField(default=0)
    # Events up to here are not accounted for: the checkpoint was set past them.
    accounting_from = models.BigIntegerField(default=0)
    # The latest check: figures, the names of missing events, and when; empty before the first.
    accounting = models.JSONField(default=dict, blank=True)

    # The event after the checkpoint, while it is failing; `attempt` failed tries so far.
    block = models.TextField(choices=Block.choices, blank=True)
    blocked_since = models.DateTimeField(null=True, blank=True)
    attempt = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    error_type = models.TextField(blank=True)
    error_message = models.TextField(blank=True)
    stacktrace = models.TextField(blank=True)
    # Its failed tries, to be told when it becomes a letter.
    tries = models.JSONField(default=list, blank=True)

    # What a process has begun and not ended; see runtime/trial.py.
    trial_by = models.UUIDField(null=True, blank=True)
    trial_at = models.DateTimeField(null=True, blank=True)
    trial_to = models.BigIntegerField(default=0)
    careful_to = models.BigIntegerField(default=0)
    deaths = models.IntegerField(default=0)

    # Not columns: what the runtime reads along with the row; see runtime/trial.py.
    head: int
    first_wait: datetime | None
    is_stale: bool

    class Meta:
        constraints = [models.UniqueConstraint(fields=["source", "name"], name="projection_key")]

    def __str__(self) -> str:
        return self.name


# Nothing holds it up.
UNBLOCKED: dict[str, Any] = {
    "block": "",
    "blocked_since": None,
    "attempt": 0,
    "next_at": None,
    "error_type": "",
    "error_message": "",
    "stacktrace": "",
    "tries": [],
}
