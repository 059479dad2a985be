"""Where the breakers' pages and the overview get what they show."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from django.http import Http404, QueryDict
from django.utils import timezone

from breakers import live
from breakers.foreign.registry import list_readers
from breakers.history import Day, add_current, list_outages, sum_days
from breakers.models import Breaker, Reading, State, Transition
from breakers.readings import Unread, find_silent, list_unread
from breakers.rows import Row, make_rows
from dashboard.days import start_of_day
from dashboard.paging import PAGE_SIZE, Page, get_page
from dashboard.redis import RedisError, describe_error

# Above this the page says "100,000+"; nobody counts further.
MOST_COUNTED = 100_000
# The days that a breaker's page looks back.
DAYS = 14


class Ref(NamedTuple):
    """A breaker that is not closed, and since when."""

    source: str
    name: str
    left_closed_at: datetime | None


@dataclass(frozen=True)
class OpenOnes:
    """The breakers that are not closed, the newest first, as many as were asked for; and how many there are.

    Where they are not read now, these are the ones that were not closed when they last were.
    """

    refs: list[Ref]
    count: int
    # Of those that can be read, closed ones included.
    total_count: int
    # The places that are not read, by the source of their breakers.
    silent: dict[str, Reading]
    # What Redis says instead of an answer; "" if it answers.
    error: str = ""

    @property
    def known_count(self) -> int:
        """How many are not closed for certain."""
        return self.count - sum(ref.source in self.silent for ref in self.refs)

    @property
    def unknown_since(self) -> datetime | None:
        """When ours were last read; None: they are now, or never were."""
        return self.silent[Breaker.OURS].read_at if self.error else None

    @cached_property
    def unread(self) -> list[Unread]:
        """Which of other libraries' cannot be read; what Redis says to the page itself is said by `error`."""
        theirs = (self.silent[source] for source in list_readers() if source in self.silent)
        return list_unread(reading for reading in theirs if not self.error or reading.error != self.error)


@dataclass(frozen=True)
class Board:
    """One page of breakers: those that are not closed first, then the others, `PAGE_SIZE` in all."""

    open_ones: OpenOnes
    open_rows: list[Row]
    # Where the next page of open ones begins; 0: there is none.
    next_open: int
    others: Page[Breaker] | None
    other_rows: list[Row]

    @property
    def counted(self) -> str:
        count = self.open_ones.total_count
        return f"{MOST_COUNTED:,}+" if count >= MOST_COUNTED else f"{count:,}"

    @property
    def has_unknown_open(self) -> bool:
        """Whether some of those that are shown as not closed are so only as far as was last read."""
        return any(row.is_unknown for row in self.open_rows)

    @property
    def has_unknown_others(self) -> bool:
        """Whether the others are closed only as far as was last read; without our Redis they are all there is."""
        return bool(self.open_ones.error) or any(row.is_unknown for row in self.other_rows)


def get_board(params: QueryDict, *, search: str, state: str, first_open: int) -> Board:
    """The page that the address asks for."""
    end = first_open + PAGE_SIZE
    open_ones = list_open(search, end)
    wants_open = state != "closed" and not is_deeper_page(params)
    shown = get_breakers(open_ones.refs[first_open:end]) if wants_open else []
    others = None
    if state != "open" and not first_open and len(shown) < PAGE_SIZE:
        rest = Breaker.objects.exclude(pk__in=[breaker.pk for breaker in shown if breaker.pk])
        rest = rest.filter(name__icontains=search) if search else rest
        # While Redis is away nothing is known to be closed, so nothing is left out.
        if not open_ones.error:
            # That it left closed may not have been copied yet.
            names = [ref.name for ref in open_ones.refs if ref.source == Breaker.OURS]
            rest = rest.filter(state=State.CLOSED).exclude(source=Breaker.OURS, name__in=names)
        others = get_page(rest, params, by="changed_at", size=PAGE_SIZE - len(shown))
    rows = make_rows([*shown, *(others.rows if others else [])], open_ones.silent)
    return Board(
        open_ones=open_ones,
        open_rows=rows[: len(shown)],
        next_open=end if wants_open and open_ones.count > end else 0,
        others=others,
        other_rows=rows[len(shown) :],
    )


def is_deeper_page(params: QueryDict) -> bool:
    """Whether the address is that of a later page of the others, or of its live region."""
    is_later = params.get("after") or params.get("before")
    return bool(is_later or (params.get("at") and params.get("first") != "1"))


def list_open(search: str, limit: int) -> OpenOnes:
    """Ours as Redis's index has them, other libraries' as the last scan found them."""
    not_closed = Breaker.objects.exclude(state=State.CLOSED).order_by("-left_closed_at")
    if search:
        # The index knows no names, so a search looks through all that are open.
        limit, not_closed = live.MOST_OPEN, not_closed.filter(name__icontains=search)
    try:
        ours, our_open_count, our_count = live.list_open(limit)
    except RedisError as error:
        refs = [Ref(*values) for values in not_closed.values_list(*Ref._fields)[: live.MOST_OPEN]]
        silent = find_silent(describe_error(error))
        return OpenOnes(refs, len(refs), count_known(silent), silent, describe_error(error))
    not_ours = not_closed.filter(source__in=list_readers())
    theirs = [Ref(*values) for values in not_ours.values_list(*Ref._fields)[: live.MOST_OPEN]]
    found = [Ref(Breaker.OURS, name, at) for name, at in ours if search.lower() in name.lower()]
    refs = sorted([*found, *theirs], key=lambda ref: to_seconds(ref.left_closed_at), reverse=True)
    count = len(refs) if search else our_open_count + len(theirs)
    silent = find_silent("")
    # Redis forgets after a week and Postgres after a month; of a new one Postgres hears a moment later.
    return OpenOnes(refs, count, max(our_count, count_known(silent)), silent)


def count_known(silent: dict[str, Reading]) -> int:
    """The breakers on record whose place can be read."""
    return Breaker.objects.exclude(source__in=silent)[:MOST_COUNTED].count()


def to_seconds(at: datetime | None) -> float:
    return at.timestamp() if at else 0


def get_breakers(refs: list[Ref]) -> list[Breaker]:
    """The breakers in this order; one that opened a moment ago may not have been copied yet, and is made up here."""
    if not refs:
        return []
    sources, names = {ref.source for ref in refs}, [ref.name for ref in refs]
    rows = Breaker.objects.filter(source__in=sources, name__in=names)
    known = {(row.source, row.name): row for row in rows}
    return [
        known.get((ref.source, ref.name))
        or Breaker(source=ref.source, name=ref.name, state=State.OPEN, left_closed_at=ref.left_closed_at)
        for ref in refs
    ]


def get_row(source: str, name: str) -> Row:
    """One breaker, also one that Redis has and Postgres not yet; 404 if neither has heard of it."""
    if not name:
        raise Http404
    breaker = Breaker.objects.filter(source=source, name=name).first()
    row = make_rows([breaker or Breaker(source=source, name=name)], find_silent(""))[0]
    if not breaker and not (row.live and row.live.is_known):
        raise Http404
    return row


def get_note(row: Row) -> str:
    """What an open breaker of this profile, or of this library, means."""
    if row.is_ours:
        return row.policy.note if row.policy else ""
    return row.reader.note if row.reader else ""


def list_days(row: Row) -> list[Day]:
    """Time not closed on each of the last days, today last."""
    now = timezone.localtime()
    first = now.date() - timedelta(days=DAYS - 1)
    found = list_outages([row.breaker] if row.breaker.pk else [], start_of_day(first), now)
    outages = add_current(found.get(row.breaker.pk, []), row.left_closed_at, now)
    return sum_days(outages, first, now.date())


def list_transitions(breaker: Breaker) -> list[Transition]:
    return list(Transition.objects.filter(breaker=breaker.pk).order_by("-at", "-id")[:PAGE_SIZE])
