from django.db import models


class Parcel(models.Model):
    """The read model: where each parcel is."""

    number = models.TextField(primary_key=True)
    place = models.TextField()

    def __str__(self) -> str:
        return f"{self.number}: {self.place}"
