"""Days as the console's zone has them."""

from datetime import date, datetime, time

from django.utils import timezone


def start_of_day(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
