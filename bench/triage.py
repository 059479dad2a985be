"""What triage costs on a million letters: the groups page, and the letters page with each filter, over HTTP.

In one run on one server, against pages that are as full on 500 letters, against Django's admin with the same columns
and filters on the same rows, and the SQL of a page against fetching its 50 rows by their primary keys.
"""

import argparse
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
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
    "event_type": {"event_type": "Type5"},
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
    "consumer and event_type": {"consumer": "consumer-1", "event_type": "Type5"},
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
    "event_type": {"status__exact": "failed", "event_type": "Type5"},
    "category": {"status__exact": "failed", "category__exact": "transient"},
    "error_type": {"status__exact": "failed", "error_type": "TimeoutError0"},
    "tier": {"status__exact": "failed", "tier__exact": "poison"},
    "consumer and event_type": {"status__exact": "failed", "consumer": "consumer-1", "event_type": "Type5"},
    "rare words": {"status__exact": "failed", "q": "word7"},
}
# What differs between two small tables: in one nearly everything is of a few kinds, so that a filter finds a page full
# of letters; in the other there is as much of everything as in a large one.
NARROW: dict[str, Any] = {"open_share": 0.5, "groups": 4, "tenants": 5}
WIDE: dict[str, Any] = {"open_share": 0.5}
# Of one kind in a narrow table, where there are no rare ones.
NARROW_FILTERS: dict[str, dict[str, Any]] = {
    "rare consumer": {"consumer": "consumer-1"},
    "rare event_type": {"event_type": "Type5"},
    "tenant": {"tenant": "tenant-2"},
    "attempts": {"attempts": 2},
    "closed error_type": {"status": "closed", "error_type": "TimeoutError0"},
    "words and consumer": {"words": "handled", "consumer": "consumer-1"},
}
ROWS = re.compile(rb'<tr id="(?:letter|group)-')


@dataclass(frozen=True)
class Table:
    """A console on a table of its own, and where its pages are."""

    visitor: Visitor
    pages: dict[str, str]

    def get(self, name: str) -> bytes:
        return self.visitor.get(self.pages[name])

    def count_rows(self, name: str) -> int:
        return len(ROWS.findall(self.get(name)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument(
        "--than",
        type=int,
        help="compare with a table of so many, which is to cost as much, and not with the admin",
    )
    asked = parser.parse_args()
    user = User.objects.create_superuser("bench")
    session = make_session(user)
    with ExitStack() as stack:
        narrow = stack.enter_context(filled(session, "narrow", SMALL, FILTERS | NARROW_FILTERS, **NARROW))
        wide = stack.enter_context(filled(session, "wide", SMALL, FILTERS, **WIDE))
        middle = stack.enter_context(filled(session, "middle", asked.than, FILTERS)) if asked.than else None
        fill(asked.rows)
        large = Table(stack.enter_context(serving(session)), list_pages(FILTERS))
        # At ten million letters a page of the admin takes half a minute.
        admin = None
        if not asked.than:
            admin = stack.enter_context(serving(session, settings_module="bench.admin_site.settings"))
        found = [compare(name, narrow, wide, middle, large, admin) for name in large.pages]
    for one in found:
        print(one)
    bars = {"vs_bare_sql": Bar(measure_bare_sql(user), most=4)}
    if asked.than:
        bars["vs_middle_table"] = Bar(max(one.vs_middle or 0 for one in found), most=1.5)
    else:
        bars["vs_admin"] = Bar(min(one.vs_admin for one in found if one.vs_admin), least=25)
        bars["vs_small_table"] = Bar(max(one.vs_small for one in found), most=1.5)
    worst = max(found, key=lambda one: one.vs_small)
    report("triage", bars, rows=asked.rows, than=asked.than, worst_filter=worst.name)


@contextmanager
def filled(
    session: str, name: str, total: int, filters: dict[str, dict[str, Any]], **how: Any
) -> Iterator[Table]:
    """A console on a copy of the database with so many letters."""
    fill(total, **how)
    pages = list_pages(filters)
    with serving(session, database=copy_database(name)) as visitor:
        yield Table(visitor, pages)


@dataclass(frozen=True)
class Comparison:
    """What a page costs, in seconds, and how many rows it shows; None: it was not asked for."""

    name: str
    rows: tuple[int, int]
    small: float
    middle: float | None
    large: float
    # The page and the admin's, in turns of their own.
    vs_admin: float | None
    admin: float | None

    @property
    def vs_small(self) -> float:
        return self.large / self.small

    @property
    def vs_middle(self) -> float | None:
        return self.large / self.middle if self.middle else None

    def __str__(self) -> str:
        parts = [
            f"{self.name:<24} {self.rows[0]:>3} rows {1000 * self.small:6.1f} ms",
            f"{self.rows[1]:>3} rows {1000 * self.large:6.1f} ms  x {self.vs_small:.2f}",
        ]
        if self.middle:
            parts.append(f"middle {1000 * self.middle:6.1f} ms  x {self.vs_middle:.2f}")
        if self.admin:
            parts.append(f"admin {1000 * self.admin:8.1f} ms  x {self.vs_admin:.0f}")
        return "  ".join(parts)


def compare(
    name: str, narrow: Table, wide: Table, middle: Table | None, large: Table, admin: Visitor | None
) -> Comparison:
    """In turns, so that a busy machine slows all alike; the small table is the one whose page is as full."""
    rows = large.count_rows(name)
    small = min(narrow, wide, key=lambda table: abs(table.count_rows(name) - rows))
    calls = [lambda: small.get(name), lambda: large.get(name)]
    if middle:
        calls.append(lambda: middle.get(name))
    seconds = in_turns(*calls)
    page, of_admin = (0.0, 0.0)
    if admin and name in ADMIN_FILTERS:
        address = f"/dlq/deadletter/?{urlencode(ADMIN_FILTERS[name])}"
        # Few times, as each takes most of a second.
        page, of_admin = in_turns(lambda: large.get(name), lambda: admin.get(address), rounds=7)
    return Comparison(
        name,
        (small.count_rows(name), rows),
        small=seconds[0],
        middle=seconds[2] if middle else None,
        large=seconds[1],
        vs_admin=of_admin / page if page else None,
        admin=of_admin or None,
    )


def list_pages(filters: dict[str, dict[str, Any]]) -> dict[str, str]:
    """The address of each page that is measured."""
    pages = {"groups page": "/dead-letters/"}
    pages |= {name: f"/dead-letters/letters/?{urlencode(wanted)}" for name, wanted in filters.items()}
    group = FailureGroup.objects.only("pk").get(fingerprint="bench-1").pk
    pages |= {
        "group": f"/dead-letters/letters/?group={group}",
        "group page": f"/dead-letters/groups/{group}/",
    }
    pages |= {"deep page": f"/dead-letters/letters/?{urlencode({'status': 'any', 'after': deep_cursor()})}"}
    return pages


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
