from django.db import models


class Mark(models.Model):
    """One item of a tally run that was done; a second mark for the same item would show work done twice."""

    run_id = models.BigIntegerField()
    lane = models.IntegerField()
    number = models.IntegerField()

    def __str__(self) -> str:
        return f"{self.run_id}/{self.lane}/{self.number}"
