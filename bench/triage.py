"""What triage costs on a million letters: the groups page, and the letters page with each filter, over HTTP.

In one run on one server, against the same pages on 500 letters, against Django's admin with the same columns and
filters on the same rows, and the SQL of a page against fetching its 50 rows by their primary keys.
"""

import argparse
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict

from bench.http import Visitor, copy_database, make_session, serving
from bench.letters import fill
from bench.report import Bar, in_turns, median_seconds, report
from dlq.filters import LetterFilter
from dlq.models import DeadLetter, FailureGroup
from dlq.queries import count_letters, list_letters

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
    "closed error_type": {"status": "closed", "error_type": "KeyError3"},
    "consumer and event_type": {"consumer": "consumer-1", "event_type": "Type4"},
    "nothing matches both": {"consumer": "consumer-1", "event_type": "Type199"},
    "words and consumer": {"words": "word7", "consumer": "consumer-1"},
}
# The admin's spelling of those that it has; open letters first, as the console shows them.
ADMIN_FILTERS = {
    "open": {"status__exact": "failed"},
    "any": {},
    "source": {"status__exact": "failed", "source": "source-1"},
    "consumer": {"status__exact": "failed", "consumer": "consumer-1"},
    "rare consumer": {"status__exact": "failed", "consumer": "consumer-49"},
    "event_type": {"status__exact": "failed", "event_type": "Type4"},
    "category": {"status__exact": "failed", "category__exact": "transient"},
    "error_type": {"status__exact": "failed", "error_type": "TimeoutError0"},
    "tier": {"status__exact": "failed", "tier__exact": "poison"},
    "consumer and event_type": {"status__exact": "failed", "consumer": "consumer-1", "event_type": "Type4"},
    "rare words": {"status__exact": "failed", "q": "word7"},
}
# One page of it takes a second or so.
ADMIN_TIMES = 3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    user = User.objects.create_superuser("bench")
    session = make_session(user)
    # Half of the few are open, so that there too a page has 50 rows.
    fill(SMALL, open_share=0.5)
    with serving(session, database=copy_database("small")) as few, serving(session) as many:
        small_pages = list_pages()
        fill(asked.rows)
        pages = list_pages()
        seconds = {
            name: in_turns(lambda: few.get(small_pages[name]), lambda: many.get(pages[name]))  # noqa: B023
            for name in pages
        }
    with serving(session, settings_module="bench.admin_site.settings") as visitor:
        admin = measure_admin(visitor)
    ratios = {name: large / small for name, (small, large) in seconds.items()}
    for name, (small, large) in seconds.items():
        theirs = f"admin {1000 * admin[name]:8.1f} ms" if name in admin else ""
        print(f"{name:<24} {1000 * small:7.1f} ms {1000 * large:7.1f} ms  x {ratios[name]:.2f}  {theirs}")
    bars = {
        "vs_admin": Bar(min(admin[name] / seconds[name][1] for name in admin), least=25),
        "vs_small_table": Bar(max(ratios.values()), most=1.5),
        "vs_bare_sql": Bar(measure_bare_sql(user), most=4),
    }
    report("triage", bars, rows=asked.rows, worst_filter=max(ratios, key=lambda name: ratios[name]))


def list_pages() -> dict[str, str]:
    """The address of each page that is measured."""
    pages = {"groups page": "/dead-letters/"}
    pages |= {name: f"/dead-letters/letters/?{urlencode(wanted)}" for name, wanted in FILTERS.items()}
    group = FailureGroup.objects.only("pk").get(fingerprint="bench-1").pk
    pages |= {
        "group": f"/dead-letters/letters/?group={group}",
        "group page": f"/dead-letters/groups/{group}/",
    }
    pages |= {"deep page": f"/dead-letters/letters/?{urlencode({'status': 'any', 'after': deep_cursor()})}"}
    return pages


def time_page(visitor: Visitor, path: str, times: int) -> float:
    return median_seconds(lambda: visitor.get(path), times=times, warm_up=1)


def measure_admin(visitor: Visitor) -> dict[str, float]:
    return {
        name: time_page(visitor, f"/dlq/deadletter/?{urlencode(wanted)}", ADMIN_TIMES)
        for name, wanted in ADMIN_FILTERS.items()
    }


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
        ours = record_statements(lambda: (list_letters(form, QueryDict()), count_letters(form)))
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
