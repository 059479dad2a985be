from django.db import models
from django.db.models.functions import Now


class Run(models.Model):
    """Long work that somebody asked for: one row here before any message in Redis; the kind says what it does."""

    class State(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        PAUSING = "pausing"
        PAUSED = "paused"
        CANCELLING = "cancelling"
        CANCELLED = "cancelled"
        FINISHED = "finished"
        FAILED = "failed"

    ENDED = (State.FINISHED, State.CANCELLED, State.FAILED)
    WORKABLE = (State.PENDING, State.RUNNING)

    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    requested_by = models.CharField(max_length=150)
    reason = models.TextField(blank=True)
    options = models.JSONField(default=dict, blank=True)
    # Made with the form: a double click, or a browser that sends twice, is one run.
    request_key = models.UUIDField(unique=True)
    failure = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="run_created"),
            models.Index(
                fields=["state"],
                name="run_active",
                condition=~models.Q(state__in=["finished", "cancelled", "failed"]),
            ),
            models.Index(fields=["-ended_at"], name="run_failed", condition=models.Q(state="failed")),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def is_active(self) -> bool:
        return self.state not in self.ENDED


class Lane(models.Model):
    """A part of a run that one worker does at a time, in order; it carries its own totals, so no row is hot.

    A worker holds a lane by a lease with an epoch. Whoever takes the lane over raises the epoch, and every
    recording checks it under the row's lock: a worker that slept through its lease cannot record.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="lanes", db_index=False)
    number = models.PositiveIntegerField()
    total = models.BigIntegerField(default=0)
    totals = models.JSONField(default=dict)
    cursor = models.JSONField(default=dict)
    is_done = models.BooleanField(default=False)
    epoch = models.BigIntegerField(default=0)
    leased_until = models.DateTimeField(null=True, blank=True)
    leased_by = models.CharField(max_length=200, blank=True)
    # When a message for this lane was last sent; beat sends another if nothing came of it.
    dispatched_at = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True)
    # Slices in a row that raised; the run fails when it is too many.
    error_count = models.PositiveIntegerField(default=0)
    # Items a second, over the current turn.
    rate = models.FloatField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="lane_run_number")]
        indexes = [
            models.Index(fields=["run", "number"], name="lane_open", condition=models.Q(is_done=False)),
        ]

    def __str__(self) -> str:
        return f"run {self.run_id} lane {self.number}"

    @property
    def done_count(self) -> int:
        return sum(self.totals.values())

    def count(self, outcome: str, number: int = 1) -> None:
        """Add items that ended so; saved with the recording."""
        self.totals[outcome] = self.totals.get(outcome, 0) + number


class RunEvent(models.Model):
    """A change of a run's state: when, to what, by whom and why."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events", db_index=False)
    at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=10, choices=Run.State.choices)
    actor = models.CharField(max_length=150)
    note = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["run", "id"], name="run_event_run")]

    def __str__(self) -> str:
        return f"run {self.run_id} {self.state}"
