from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class QuietSpell(models.Model):
    """The one row that exists while nothing needs a person; beat makes it and takes it away."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    since = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"quiet since {self.since:%Y-%m-%d %H:%M}"


class DismissedPanel(models.Model):
    """A panel of the overview that somebody does not want to see any more."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=40)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="dismissed_panel_once")]

    def __str__(self) -> str:
        return f"{self.name} dismissed by {self.user}"
