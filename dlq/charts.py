"""The chart on a group's page: its failed attempts by the hour."""

from collections.abc import Sequence
from datetime import timedelta

from django.utils import timezone

from dashboard.charts import Chart, Series, stack_columns


def draw_hours(values: Sequence[int], category: str) -> Chart:
    """A column for each hour, the current one last."""
    this_hour = timezone.localtime().replace(minute=0, second=0, microsecond=0)
    hours = [this_hour - timedelta(hours=n) for n in reversed(range(len(values)))]
    days, total, worst = len(values) // 24, sum(values), max(values)
    sentence = f"Nothing failed in the last {days} days."
    if total:
        when = f"{hours[values.index(worst)]:%a %H:%M %Z}"
        sentence = (
            f"{total:,} failed attempt{'' if total == 1 else 's'}, in the hour from {when}."
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
