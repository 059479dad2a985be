"""Totals of open letters, and the values that filters offer."""

from dataclasses import dataclass

from django.db import connection

from dashboard.memo import Memo
from dlq.models import Facet

# Open letters by category and error type; both totals are sums of it.
OPEN_TOTALS = """
SELECT category, error_type, sum(number) FROM dlq_counted
WHERE status = 'failed' GROUP BY 1, 2 HAVING sum(number) > 0 ORDER BY 3 DESC
"""
# What a list of suggestions shows.
MOST_FACETS = 200


@dataclass(frozen=True)
class Totals:
    """Open letters in all, by category and by error type, most first."""

    number: int
    by_category: dict[str, int]
    by_error_type: dict[str, int]


def open_totals() -> Totals:
    with connection.cursor() as cursor:
        cursor.execute(OPEN_TOTALS)
        rows = cursor.fetchall()
    by_category: dict[str, int] = {}
    by_error_type: dict[str, int] = {}
    for category, error_type, number in rows:
        by_category[category] = by_category.get(category, 0) + int(number)
        by_error_type[error_type] = by_error_type.get(error_type, 0) + int(number)
    return Totals(sum(by_category.values()), most_first(by_category), most_first(by_error_type))


def most_first(totals: dict[str, int]) -> dict[str, int]:
    return dict(sorted(totals.items(), key=lambda total: -total[1]))


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
