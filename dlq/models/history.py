from django.db import models


class CategoryBucket(models.Model):
    """Failed attempts of a category in five minutes, whatever their group: few rows, for charts over days."""

    starts_at = models.DateTimeField()
    category = models.TextField()
    number = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["starts_at", "category"], name="category_bucket_key")]

    def __str__(self) -> str:
        return f"{self.category} {self.starts_at:%Y-%m-%d %H:%M}: {self.number}"


class DepthSample(models.Model):
    """How many letters were open, and after how many attempts, when beat last looked within these five minutes."""

    at = models.DateTimeField(primary_key=True)
    open_count = models.BigIntegerField()
    # Number of open letters by the lower bound of attempts; see sampling.py.
    by_attempts = models.JSONField(default=dict)
    # Sequences of which only parked letters are left, and the oldest of those letters: nothing releases them any more.
    left_count = models.BigIntegerField(db_default=0)
    left_letter_id = models.BigIntegerField(null=True)

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}: {self.open_count}"
