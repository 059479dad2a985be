from uuid import uuid4

from django.db import models


class Token(models.Model):
    """Lets a system of yours report its failures; only the secret's hash is kept, so nobody can read it here."""

    # Whose failures they are; a source may have several, so that one can be replaced before it is revoked.
    source = models.CharField(max_length=100)
    note = models.CharField(max_length=200, blank=True)
    secret_hash = models.CharField(max_length=64)
    # How the secret begins, to recognise it by.
    hint = models.CharField(max_length=20)
    # The form's own number, so that a double click makes one token.
    request_key = models.UUIDField(default=uuid4, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.CharField(max_length=150)
    revoked_at = models.DateTimeField(null=True, blank=True)
    revoked_by = models.CharField(max_length=150, blank=True)
    # None: never.
    used_at = models.DateTimeField(null=True, blank=True)
    # The minute that is counted now, and what was taken in it.
    window_at = models.DateTimeField(null=True, blank=True)
    window_count = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["secret_hash"], name="token_secret_hash")]

    def __str__(self) -> str:
        return f"token {self.hint}… of {self.source}"
