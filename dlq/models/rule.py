from django.db import models
from django.db.models.functions import Now

from dlq.models.words import Category


class ClassificationRule(models.Model):
    """An operator's rule: every condition that is given must hold; the first rule that matches decides."""

    # Lower comes first; of two equals, the older.
    priority = models.IntegerField(default=100)
    error_type = models.TextField(blank=True)
    http_status = models.PositiveSmallIntegerField(null=True, blank=True)
    # Found anywhere in what is looked at of the message, whatever its case; `*` stands for anything.
    message_pattern = models.CharField(max_length=200, blank=True)
    consumer = models.TextField(blank=True)
    event_type = models.TextField(blank=True)

    category = models.TextField(choices=Category.choices)
    offers_replay = models.BooleanField(default=True)
    is_security = models.BooleanField(default=False)
    # What to do about it, shown on the group's page; a URL becomes a link.
    runbook = models.TextField(blank=True)
    added_by = models.CharField(max_length=150)
    added_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["priority", "id"]

    def __str__(self) -> str:
        return f"rule {self.pk}"
