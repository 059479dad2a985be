from django.db import models


class Facet(models.Model):
    """A value that some letter has: what filters offer, without looking through the letters."""

    class Kind(models.TextChoices):
        SOURCE = "source"
        CONSUMER = "consumer"
        EVENT_TYPE = "event_type"
        ERROR_TYPE = "error_type"
        TENANT = "tenant"
        APP_VERSION = "app_version"

    pk = models.CompositePrimaryKey("kind", "value")
    kind = models.TextField(choices=Kind.choices)
    value = models.TextField()

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


class GroupFacet(models.Model):
    """An event type or version in which a group was seen."""

    pk = models.CompositePrimaryKey("group_id", "kind", "value")
    group_id = models.BigIntegerField()
    kind = models.TextField(choices=Facet.Kind.choices)
    value = models.TextField()
    first_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"group {self.group_id}: {self.kind} {self.value}"
