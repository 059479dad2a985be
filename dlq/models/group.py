from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from dlq.models.words import Category


class FailureGroup(models.Model):
    """The letters of one fingerprint; how many there are is in the counters, so that no writer waits for this row."""

    fingerprint = models.CharField(max_length=40)
    # The same without source and consumer: the same error elsewhere.
    error_key = models.CharField(max_length=40)
    source = models.TextField()
    consumer = models.TextField()
    error_type = models.TextField()
    # The message with its values taken out, and the frame of the application's own code: why these are one group.
    normal_message = models.TextField(blank=True)
    frame = models.TextField(blank=True)
    title = models.TextField()
    mask_key = models.IntegerField(default=0)
    category = models.TextField(choices=Category.choices)
    created_at = models.DateTimeField(db_default=Now())

    is_muted = models.BooleanField(default=False)
    # None: until somebody unmutes it.
    muted_until = models.DateTimeField(null=True, blank=True)
    # When somebody closed it as a whole; a failure after that is a regression, as it is after its last open letter.
    resolved_at = models.DateTimeField(null=True, blank=True)
    regressed_at = models.DateTimeField(null=True, blank=True)
    assignee = models.CharField(max_length=150, blank=True)
    note = models.TextField(blank=True)
    ticket = models.URLField(max_length=500, blank=True)

    # When it was found to have no letter any more; it goes some time later, unless it fails again.
    retired_at = models.DateTimeField(null=True, blank=True)

    # Counted by beat every few seconds: it looks at every open letter, which a page must not.
    blocked_sequence_count = models.IntegerField(default=0)
    parked_count = models.IntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["fingerprint"], name="group_fingerprint")]
        indexes = [
            models.Index(fields=["error_key"], name="group_error_key"),
            models.Index(fields=["created_at"], name="group_created"),
            models.Index(
                fields=["regressed_at"], name="group_regressed", condition=Q(regressed_at__isnull=False)
            ),
            models.Index(fields=["id"], name="group_muted", condition=Q(is_muted=True)),
        ]

    def __str__(self) -> str:
        return f"group {self.pk}"
