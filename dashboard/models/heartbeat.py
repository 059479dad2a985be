from django.db import models


class Heartbeat(models.Model):
    """A process that says every few seconds that it lives; in Postgres, so that it is known while Redis is away."""

    class Kind(models.TextChoices):
        WORKER = "worker"
        BEAT = "beat"
        CONSUMER = "consumer"
        REDIS = "redis"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    name = models.CharField(max_length=200)
    seen_at = models.DateTimeField()
    started_at = models.DateTimeField()
    facts = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "name"], name="heartbeat_kind_name")]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"
