"""What triage costs on a million letters: the groups page, and the letters page with each filter.

On the same server and in one run, against the same pages on 500 letters, and against fetching a page's 50 rows by
their primary keys.
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict

from bench.letters import fill
from bench.report import Bar, median_seconds, report
from dlq.filters import LetterFilter
from dlq.models import DeadLetter, FailureGroup
from dlq.queries import count_letters, list_groups, list_letters

SMALL = 500
# Every filter by itself, and some of what people combine.
FILTERS: dict[str, dict[str, Any]] = {
    "open": {},
    "closed": {"status": "closed"},
    "any": {"status": "any"},
    "source": {"source": "source-1"},
    "consumer": {"consumer": "consumer-1"},
    "rare consumer": {"consumer": "consumer-49"},
    "event_type": {"event_type": "Type4"},
    "rare event_type": {"event_type": "Type199"},
    "category": {"category": "transient"},
    "error_type": {"error_type": "TimeoutError0"},
    "tier": {"tier": "poison"},
    "tenant": {"tenant": "tenant-7"},
    "attempts": {"attempts": 9},
    "many attempts": {"attempts": 999},
    "since": {"since": "2000-01-01T00:00:00Z"},
    "until": {"until": "2000-01-01T00:00:00Z"},
    "sequence": {"sequence": "order-7"},
    "event_id": {"event_id": "event-7"},
    "trace_id": {"trace_id": "trace-7"},
    "rare words": {"words": "event word7"},
    "common words": {"words": "order handled"},
    "payload": {"path": "$.order.id", "value": "event-7"},
    "common payload": {"path": "$.order.status", "value": "paid"},
    "group": {"group": 1},
    "closed error_type": {"status": "closed", "error_type": "KeyError3"},
    "consumer and event_type": {"consumer": "consumer-1", "event_type": "Type4"},
    "nothing matches both": {"consumer": "consumer-1", "event_type": "Type199"},
    "words and consumer": {"words": "word7", "consumer": "consumer-1"},
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    user = User.objects.create_superuser("bench")
    # Half of the few are open, so that there too a page has 50 rows.
    fill(SMALL, open_share=0.5)
    small = measure(user)
    fill(asked.rows)
    large = measure(user)
    ratios = {name: large[name] / small[name] for name in small}
    bare = measure_bare_sql(user)
    for name in large:
        print(f"{name:<26} {1000 * small[name]:8.2f} ms {1000 * large[name]:8.2f} ms  x {ratios[name]:.2f}")
    bars = {"vs_small_table": Bar(max(ratios.values()), most=1.5), "vs_bare_sql": Bar(bare, most=4)}
    report("triage", bars, rows=asked.rows, worst_filter=max(ratios, key=lambda name: ratios[name]))


def measure(user: User) -> dict[str, float]:
    """Seconds for the data of each page, at the median."""
    seconds = {"groups page": median_seconds(lambda: list_groups())}
    for name, wanted in FILTERS.items():
        seconds[name] = median_seconds(partial(letters_page, user, wanted))
    deep = QueryDict(mutable=True)
    deep["after"] = deep_cursor()
    seconds["deep page"] = median_seconds(lambda: letters_page(user, {"status": "any"}, deep))
    return seconds


def letters_page(user: User, wanted: dict[str, Any], query: QueryDict | None = None) -> None:
    if "group" in wanted:
        wanted = {"group": FailureGroup.objects.only("pk").get(fingerprint="bench-1").pk}
    form = LetterFilter(wanted, user=user)
    assert form.is_valid(), form.errors
    list_letters(form, query or QueryDict())
    count_letters(form)


def deep_cursor() -> str:
    """Somewhere in the older half."""
    letter = DeadLetter.objects.order_by("pk")[DeadLetter.objects.count() // 4]
    return f"{letter.last_failed_at.isoformat()}_{letter.pk}"


def measure_bare_sql(user: User) -> float:
    """The SQL of the first letters page, list and count, over fetching its 50 rows by primary key."""
    form = LetterFilter({}, user=user)
    assert form.is_valid()
    ids = [letter.pk for letter in list_letters(form, QueryDict()).page.rows]
    with connection.cursor() as cursor:
        ours = record_statements(lambda: letters_page(user, {}))
        by_key = record_statements(lambda: list(DeadLetter.objects.filter(pk__in=ids)))

        def run(statements: list[str]) -> None:
            for statement in statements:
                cursor.execute(statement)
                cursor.fetchall()

        return median_seconds(lambda: run(ours), times=50) / median_seconds(lambda: run(by_key), times=50)


def record_statements(call: Callable[[], object]) -> list[str]:
    """The SQL that a call sends."""
    statements: list[str] = []

    def note(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        result = execute(sql, params, many, context)
        statements.append(connection.ops.last_executed_query(context["cursor"].cursor, sql, params))
        return result

    with connection.execute_wrapper(note):
        call()
    return [statement.replace("%", "%%") for statement in statements]
