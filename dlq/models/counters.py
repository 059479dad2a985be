from django.db import models
from django.db.models import Q

KEY = ["source", "consumer", "group_id", "error_type", "category", "tier", "status"]


class Tally(models.Model):
    """How many letters have these things in common, and when they first and last failed."""

    source = models.TextField()
    consumer = models.TextField()
    # Zero: no group, that is parked letters.
    group_id = models.BigIntegerField()
    error_type = models.TextField()
    category = models.TextField()
    tier = models.TextField()
    status = models.TextField()
    number = models.BigIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        abstract = True


class Counter(Tally):
    """The tallies as of the last compaction; a figure is this plus the deltas since, read in one statement."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=KEY, name="counter_key")]
        indexes = [models.Index(fields=["group_id"], name="counter_group")]

    def __str__(self) -> str:
        return f"{self.consumer} {self.status}: {self.number}"


class CounterDelta(Tally):
    """What a statement changed, appended by the letters' triggers: writers never wait for each other here."""

    def __str__(self) -> str:
        return f"{self.consumer} {self.status}: {self.number:+}"


class FailureBucket(models.Model):
    """Failed attempts in a minute or an hour: appended raw by the attempts' trigger, folded by the compaction."""

    class Width(models.TextChoices):
        RAW = "raw"
        MINUTE = "minute"
        HOUR = "hour"

    starts_at = models.DateTimeField()
    width = models.TextField(choices=Width.choices)
    source = models.TextField()
    consumer = models.TextField()
    group_id = models.BigIntegerField()
    category = models.TextField()
    number = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["starts_at", "width", "source", "consumer", "group_id", "category"],
                name="bucket_key",
                condition=~Q(width="raw"),
            ),
        ]
        indexes = [
            models.Index(fields=["group_id", "starts_at"], include=["number"], name="bucket_group"),
            models.Index(fields=["starts_at"], name="bucket_time"),
            models.Index(fields=["id"], name="bucket_raw", condition=Q(width="raw")),
        ]

    def __str__(self) -> str:
        return f"{self.consumer} {self.starts_at:%Y-%m-%d %H:%M}: {self.number}"
