"""Totals of open letters, and the values that filters offer."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import connection

from dashboard.memo import Memo
from dlq.models import Facet

OPEN_TOTALS = """
SELECT category, sum(number) FROM dlq_counted WHERE status = 'failed' GROUP BY category HAVING sum(number) > 0
"""
# What a list of suggestions shows.
MOST_FACETS = 200


@dataclass(frozen=True)
class Totals:
    """Open letters in all, and by category, most first."""

    number: int
    by_category: dict[str, int]


def open_totals() -> Totals:
    with connection.cursor() as cursor:
        cursor.execute(OPEN_TOTALS)
        by_category = {category: int(number) for category, number in cursor.fetchall()}
    return Totals(sum(by_category.values()), dict(list_most(by_category)))


def list_most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The largest first, and of equals by name: only a few are shown, and they should not change by themselves."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def read_facets() -> dict[str, tuple[str, ...]]:
    """For each kind the values that some letter has, in alphabetical order; long lists are cut."""
    return {
        kind: tuple(
            Facet.objects.filter(kind=kind).order_by("value").values_list("value", flat=True)[:MOST_FACETS]
        )
        for kind in Facet.Kind.values
    }


# Values are only ever added, and a suggestion that is ten seconds late is none too late.
list_facets = Memo(read_facets, seconds=10)
