"""The chart on a group's page: its failed attempts by the hour."""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from dashboard.charts import Chart, Series, stack_columns
from dashboard.words import counted


def draw_hours(values: Sequence[int], category: str) -> Chart:
    """A column for each hour, the current one last."""
    # Hours are counted in UTC; some zones are half an hour off, and a clock that is put back has one of them twice.
    this_hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    hours = [timezone.localtime(this_hour - timedelta(hours=n)) for n in reversed(range(len(values)))]
    days, total, worst = len(values) // 24, sum(values), max(values)
    sentence = f"Nothing failed in the last {days} days."
    if total:
        when = f"{hours[values.index(worst)]:%a %H:%M %Z}"
        sentence = (
            f"{counted(total, 'failed attempt')}, in the hour from {when}."
            if total == worst
            else f"{total:,} failed attempts; the worst hour, from {when}, had {worst:,}."
        )
    words = [
        f"{hour:%a %H:%M}: {f'{value:,}' if value else 'none'}"
        for hour, value in zip(hours, values, strict=True)
    ]
    return stack_columns(
        [Series("failed attempts", category, values)], words, [f"{days} days ago", "now"], sentence
    )
