from django.db import models


class AuditEntry(models.Model):
    """Who did what, to what, why, with which outcome; the database refuses to change or remove a row."""

    class Outcome(models.TextChoices):
        SUCCEEDED = "succeeded"
        FAILED = "failed"

    at = models.DateTimeField(auto_now_add=True)
    # Text, not a foreign key: the entry outlives the user.
    actor = models.CharField(max_length=150)
    action = models.CharField(max_length=60)
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    subject = models.CharField(max_length=200, blank=True)
    reason = models.TextField(blank=True)
    # What the action touched, in numbers and names; for a failed one, why it failed.
    details = models.JSONField(default=dict, blank=True)
    # None: the action did not come over HTTP.
    address = models.GenericIPAddressField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["-at", "-id"], name="audit_at"),
            models.Index(fields=["actor", "-at", "-id"], name="audit_actor"),
            models.Index(fields=["action", "-at", "-id"], name="audit_action"),
            models.Index(fields=["subject", "-at", "-id"], name="audit_subject"),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.subject}".strip()
