from django.conf import settings
from django.db import models


class SignInAttempt(models.Model):
    """A try to sign in, written before the password is looked at and removed if it was right."""

    at = models.DateTimeField(auto_now_add=True)
    username = models.CharField(max_length=150)
    address = models.GenericIPAddressField()

    class Meta:
        indexes = [
            models.Index(fields=["username", "at"], name="sign_in_username"),
            models.Index(fields=["address", "at"], name="sign_in_address"),
        ]

    def __str__(self) -> str:
        return f"{self.username} from {self.address}"


class LoginLink(models.Model):
    """A one-time link that signs the local administrator in; only the token's hash is kept."""

    token_hash = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["token_hash"], name="login_link_token_hash")]

    def __str__(self) -> str:
        return f"link for {self.user}"
