from django.db import models


class Applied(models.Model):
    """An event as a projection applied it; a second row for it would show that it was applied twice."""

    consumer = models.TextField()
    stream = models.TextField()
    version = models.BigIntegerField()
    position = models.BigIntegerField()
    data = models.JSONField()

    def __str__(self) -> str:
        return f"{self.consumer}: {self.position}"


class Balance(models.Model):
    """A read model: what each account holds."""

    account = models.TextField(primary_key=True)
    amount = models.BigIntegerField(default=0)
    # Refuses what is out of order.
    version = models.BigIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.account}: {self.amount}"


class Fault(models.Model):
    """How a test makes handlers misbehave: what happens at an event with this mark in its data."""

    mark = models.TextField(primary_key=True)
    # An exception's name, or a word of faults.py.
    how = models.TextField()

    def __str__(self) -> str:
        return f"{self.mark}: {self.how}"
