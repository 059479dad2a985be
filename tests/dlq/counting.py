"""The counters, against a recount of the letters themselves."""

from collections import Counter as Count

from django.db import connection
from django.db.models import Sum

from dlq.models import Attempt, DeadLetter, FailureBucket
from dlq.models.counters import KEY


def assert_counters_are_right() -> None:
    with connection.cursor() as cursor:
        # In one statement, as pages read them: a fold may come between two.
        cursor.execute(f"SELECT {', '.join(KEY)}, sum(number) FROM dlq_counted GROUP BY {', '.join(KEY)}")  # noqa: S608
        counted = {tuple(key): int(number) for *key, number in cursor.fetchall() if number}
    letters = DeadLetter.objects.values_list(*KEY)
    assert counted == Count(
        (source, consumer, group or 0, *rest) for source, consumer, group, *rest in letters
    )
    in_buckets = FailureBucket.objects.aggregate(n=Sum("number"))["n"] or 0
    assert in_buckets >= Attempt.objects.filter(outcome="failed").exclude(group=None).count()
