"""Keyset paging: a page begins after a row, not after a number of rows, so a deep page costs what the first does.

The URL carries one of
    after=CURSOR    the rows that follow this one
    before=CURSOR   the rows that precede it
    at=CURSOR       the rows from this one on: a live region asks for these, so that a list stays put while read
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from django.core.exceptions import BadRequest
from django.db.models import F, Field, Func, Model, QuerySet, Value
from django.db.models.lookups import GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual
from django.http import HttpRequest, QueryDict

PAGE_SIZE = 50
# Beyond this a list says "99+ new" and stops counting.
MOST_NEW = 99

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows in order, and the cursors to go on from; an empty cursor means there is nothing there."""

    rows: list[Row]
    after: str
    before: str
    at: str
    new_count: int
    # What the neighbours hold, by the order of the rows.
    words: tuple[str, str, str] = ("Newest", "Newer", "Older")
    # No row is here, and there may be some on other pages.
    is_beyond: bool = False

    @property
    def new_label(self) -> str:
        return f"{MOST_NEW}+" if self.new_count > MOST_NEW else str(self.new_count)


def get_page(
    queryset: QuerySet[Row], query: QueryDict, *, by: str, size: int = PAGE_SIZE, oldest_first: bool = False
) -> Page[Row]:
    """The page that the URL asks for, of rows ordered by `by` and id."""
    keys = row_value(F(by), F("pk"))
    down, up = ((by, "pk"), (f"-{by}", "-pk")) if oldest_first else ((f"-{by}", "-pk"), (by, "pk"))
    follows, precedes = (GreaterThan, LessThan) if oldest_first else (LessThan, GreaterThan)
    params: dict[str, str] = query.dict()  # type: ignore[assignment]
    new_count = 0
    if params.get("before"):
        rows = list(queryset.filter(precedes(keys, read_cursor(params["before"]))).order_by(*up)[: size + 1])
        has_previous, has_next = len(rows) > size, True
        rows = rows[:size][::-1]
    elif params.get("at"):
        cursor = read_cursor(params["at"])
        from_it = GreaterThanOrEqual if oldest_first else LessThanOrEqual
        rows = list(queryset.filter(from_it(keys, cursor)).order_by(*down)[: size + 1])
        has_previous, has_next = params.get("first") != "1", len(rows) > size
        if not has_previous:
            new_count = queryset.filter(precedes(keys, cursor)).order_by()[: MOST_NEW + 1].count()
    else:
        cut = (
            queryset.filter(follows(keys, read_cursor(params["after"]))) if params.get("after") else queryset
        )
        rows = list(cut.order_by(*down)[: size + 1])
        has_previous, has_next = bool(params.get("after")), len(rows) > size
    rows = rows[:size]
    return Page(
        rows,
        after=write_cursor(rows[-1], by) if rows and has_next else "",
        before=write_cursor(rows[0], by) if rows and has_previous else "",
        at=write_cursor(rows[0], by) if rows else "",
        new_count=new_count,
        words=("Oldest", "Older", "Newer") if oldest_first else Page.words,
        is_beyond=not rows and (has_previous or has_next or new_count > 0),
    )


def write_cursor(row: Model, by: str) -> str:
    return f"{getattr(row, by).isoformat()}_{row.pk}"


def read_cursor(text: str) -> Func:
    """The cursor as a row value; a broken one is the client's mistake."""
    when, _, pk = text.rpartition("_")
    try:
        # In UTC: Postgres does not take every offset that Python does.
        values: list[Any] = [datetime.fromisoformat(when).astimezone(UTC), int(pk)]
    except (ValueError, OverflowError):
        raise BadRequest(
            "The page's cursor (after, before or at) is damaged; start from the first page."
        ) from None
    if "+" not in when or not 0 < values[1] < 2**63:
        raise BadRequest("The page's cursor (after, before or at) is damaged; start from the first page.")
    return row_value(*(Value(value) for value in values))


def row_value(*parts: F | Value) -> Func:
    """(a, b) as Postgres compares it: one range of an index, which two conditions joined by OR are not."""
    return Func(*parts, function="ROW", output_field=Field())


def live_url(request: HttpRequest, page: Page[Row]) -> str:
    """What the page's live region asks for: the same rows again, and how many are newer."""
    params = request.GET.copy()
    is_first = not (params.pop("after", None) or params.pop("before", None))
    if page.at:
        params["at"] = page.at
        params["first"] = "1" if is_first else ""
    return f"{request.path}?{params.urlencode()}"
