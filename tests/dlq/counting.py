"""The counters, against a recount of the letters themselves."""

from collections import Counter as Count

from django.db.models import Sum

from dlq.models import Attempt, Counter, CounterDelta, DeadLetter, FailureBucket
from dlq.models.counters import KEY


def assert_counters_are_right() -> None:
    counted: Count[tuple[object, ...]] = Count()
    for model in (Counter, CounterDelta):
        for *key, number in model.objects.values_list(*KEY, "number"):
            counted[tuple(key)] += number
    letters = DeadLetter.objects.values_list(*KEY)
    recounted = Count((source, consumer, group or 0, *rest) for source, consumer, group, *rest in letters)
    assert {key: number for key, number in counted.items() if number} == recounted
    in_buckets = FailureBucket.objects.aggregate(n=Sum("number"))["n"] or 0
    assert in_buckets >= Attempt.objects.filter(outcome="failed").exclude(group=None).count()
