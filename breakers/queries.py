"""Where the breakers' pages and the overview get what they show."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.http import Http404, QueryDict
from django.utils import timezone

from breakers import live
from breakers.foreign.registry import list_readers
from breakers.history import Day, list_outages, start_of, sum_days
from breakers.models import Breaker, Reading, State, Transition, Trip
from breakers.rows import STRIP_HOURS, Row
from dashboard.models import Heartbeat
from dashboard.paging import PAGE_SIZE, Page, get_page
from dashboard.redis import RedisError

# Above this the page says "100,000+"; nobody counts further.
MOST_COUNTED = 100_000
# The days that a breaker's page looks back.
DAYS = 14


@dataclass(frozen=True)
class Board:
    """One page of breakers: those that are not closed first, then the others, `PAGE_SIZE` in all."""

    open_rows: list[Row]
    open_count: int
    # Where the next page of open ones begins; 0: there is none.
    next_open: int
    others: Page[Breaker] | None
    other_rows: list[Row]
    total_count: int
    # What Redis says instead of an answer, and when it last gave one; "" if it answers.
    error: str
    unknown_since: datetime | None

    @property
    def counted(self) -> str:
        return f"{MOST_COUNTED:,}+" if self.total_count >= MOST_COUNTED else f"{self.total_count:,}"


def get_board(params: QueryDict, *, search: str, state: str, first_open: int) -> Board:
    """The page that the address asks for; ours come from Redis's index of open ones, others' from the last scan."""
    error, unknown_since = "", None
    try:
        ours = live.list_open()
    except RedisError as problem:
        error, unknown_since = describe(problem), find_last_answer()
        ours = []
    found = Breaker.objects.filter(name__icontains=search) if search else Breaker.objects.all()
    is_paging = any(params.get(name) for name in ("after", "before"))
    open_ones = [] if is_paging or state == "closed" else list_open(found, ours, search, is_known=not error)
    shown = open_ones[first_open : first_open + PAGE_SIZE]
    others = None
    if state != "open" and not first_open and len(shown) < PAGE_SIZE:
        rest = found.filter(state=State.CLOSED) if not error else found.exclude(pk__in=[b.pk for b in shown])
        others = get_page(rest, params, by="changed_at", size=PAGE_SIZE - len(shown))
    rows = make_rows([*shown, *(others.rows if others else [])], is_known=not error)
    return Board(
        open_rows=rows[: len(shown)],
        open_count=len(open_ones),
        next_open=first_open + PAGE_SIZE if len(open_ones) > first_open + PAGE_SIZE else 0,
        others=others,
        other_rows=rows[len(shown) :],
        total_count=Breaker.objects.all()[:MOST_COUNTED].count(),
        error=error,
        unknown_since=unknown_since,
    )


def list_open(
    found: QuerySet[Breaker], ours: list[tuple[str, datetime]], search: str, *, is_known: bool
) -> list[Breaker]:
    """Those that are not closed, the newest first; while Redis is away, those that were not when it last answered."""
    not_closed = found.exclude(state=State.CLOSED).order_by("-left_closed_at")[: live.MOST_OPEN]
    rows = {(row.source, row.name): row for row in not_closed}
    if is_known:
        names = {name: at for name, at in ours if search.lower() in name.lower()}
        for name, at in names.items():
            # One that opened a moment ago may not have been copied yet.
            row = rows.setdefault((Breaker.OURS, name), Breaker(name=name, state=State.OPEN, changed_at=at))
            row.left_closed_at = at
        rows = {key: row for key, row in rows.items() if key[0] != Breaker.OURS or key[1] in names}
    oldest = datetime.min.replace(tzinfo=timezone.get_current_timezone())
    return sorted(rows.values(), key=lambda row: row.left_closed_at or oldest, reverse=True)


def make_rows(breakers: list[Breaker], *, is_known: bool) -> list[Row]:
    """The breakers with their state in Redis and their last day, in one round trip and one query."""
    lives: dict[str, live.Live] = {}
    if is_known:
        try:
            lives = live.read([breaker.name for breaker in breakers if breaker.source == Breaker.OURS])
        except RedisError:
            is_known = False
    now = timezone.now()
    outages = list_outages([b for b in breakers if b.pk], now - timedelta(hours=STRIP_HOURS), now)
    return [
        Row(
            breaker=breaker,
            live=lives.get(breaker.name) if breaker.source == Breaker.OURS else None,
            is_unknown=not is_known and breaker.source == Breaker.OURS,
            outages=outages.get(breaker.pk, []),
        )
        for breaker in breakers
    ]


def get_row(source: str, name: str) -> Row:
    """One breaker, also one that Redis has and Postgres not yet; 404 if neither has heard of it."""
    if not name or "\0" in name or "\0" in source:
        raise Http404
    breaker = Breaker.objects.filter(source=source, name=name).first()
    row = make_rows([breaker or Breaker(source=source, name=name)], is_known=True)[0]
    if not breaker and not row.live:
        raise Http404
    return row


def find_trip(breaker: Breaker) -> Trip | None:
    """The trip that holds the breaker open; None if nobody does."""
    return Trip.objects.filter(breaker=breaker.pk, ended_at=None).first()


def find_last_answer() -> datetime | None:
    """When Redis last answered beat; None if it never did."""
    heartbeat = Heartbeat.objects.filter(kind=Heartbeat.Kind.REDIS).first()
    return heartbeat.seen_at if heartbeat else None


def list_silent_readings() -> list[Reading]:
    """Places with other libraries' breakers that could not be read the last time."""
    return list(Reading.objects.exclude(error=""))


def describe(error: RedisError) -> str:
    return str(error) or type(error).__name__


def get_note(row: Row) -> str:
    """What an open breaker of this profile, or of this library, means."""
    if row.is_ours:
        return row.policy.note if row.policy else ""
    reader = list_readers().get(row.breaker.source)
    return (
        reader.note if reader else f"{row.breaker.source} is no longer read here; this is what was last seen."
    )


def list_days(breaker: Breaker) -> list[Day]:
    """Time not closed on each of the last days, today last."""
    now = timezone.localtime()
    first = now.date() - timedelta(days=DAYS - 1)
    outages = list_outages([breaker] if breaker.pk else [], start_of(first), now)
    return sum_days(outages.get(breaker.pk, []), first, now.date())


def list_transitions(breaker: Breaker) -> list[Transition]:
    return list(Transition.objects.filter(breaker=breaker.pk).order_by("-at", "-id")[:PAGE_SIZE])
