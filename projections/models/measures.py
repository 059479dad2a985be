from django.db import models

from projections.models.projection import Projection


class Pace(models.Model):
    """What a projection did in one minute; only the holder of its lock writes, so the row is never waited for."""

    projection = models.ForeignKey(Projection, models.CASCADE, related_name="paces", db_index=False)
    starts_at = models.DateTimeField()
    processed = models.BigIntegerField(default=0)
    ignored = models.BigIntegerField(default=0)
    # Failed tries, whatever became of the event.
    failed = models.BigIntegerField(default=0)
    retried = models.BigIntegerField(default=0)
    skipped = models.BigIntegerField(default=0)
    dead_lettered = models.BigIntegerField(default=0)
    parked = models.BigIntegerField(default=0)
    fatal = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["projection", "starts_at"], name="pace_key")]
        indexes = [models.Index(fields=["starts_at"], name="pace_time")]

    def __str__(self) -> str:
        return f"{self.projection_id} at {self.starts_at:%Y-%m-%d %H:%M}"


class LagSample(models.Model):
    """Where the head and a projection were at a moment; beat takes one every half minute."""

    projection = models.ForeignKey(Projection, models.CASCADE, related_name="samples", db_index=False)
    at = models.DateTimeField()
    head = models.BigIntegerField()
    position = models.BigIntegerField()
    # Events of the types it handles that it has not come to.
    lag = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["projection", "at"], name="lag_sample_key")]
        indexes = [models.Index(fields=["at"], name="lag_sample_time")]

    def __str__(self) -> str:
        return f"{self.projection_id} at {self.at:%Y-%m-%d %H:%M:%S}: {self.lag}"
