"""Which projections need a person, ours and those of other systems, and why; asked on every page."""

from collections.abc import Iterator

from django.db.models import Q
from django.urls import reverse

from dashboard.attention import Need
from dashboard.words import agree, clause, counted, duration, say_ago
from projections.lag import Lag, Measures, Rates, get_lags
from projections.models import NATIVE, Projection
from projections.queries import count_open_requests, list_consumed
from projections.reasons import describe_error, explain, explain_left_alone, is_left_alone

# More than these are one thing that needs a person, not many.
MOST_NEEDS = 5
# Of so many events or projections the first are named.
MOST_NAMED = 3
# The others wait for a person already, or are being worked on.
WATCHED = (Projection.State.RUNNING, Projection.State.PAUSED)


def find_troubled() -> Iterator[Need]:
    """Those that wait for a decision; one small query."""
    troubled = Q(state=Projection.State.STOPPED) | Q(accounting__missing__gt=0)
    rows = Projection.objects.filter(troubled, source=NATIVE)
    columns = ("name", "state", "state_since", "position", "accounting", "error_type", "error_message")
    for row in rows.only(*columns)[:20]:
        url = reverse("projections:projection", args=[row.pk])
        if row.state == Projection.State.STOPPED:
            since = f"Stopped {say_ago(row.state_since)}; nothing after it is handled."
            sentence = f"{clause(describe_error(row))}. {since}"
            yield Need(f"{row.name} has stopped on one event", sentence, url, "Decide")
        if missing := row.accounting.get("missing"):
            positions = [f"{found['position']:,}" for found in row.accounting["named"]]
            headline = f"{row.name} is missing {counted(missing, 'event')}"
            named = f"{agree(missing, 'position')} {name_some(positions, missing)}"
            yield Need(headline, f"Neither done nor on record: {named}.", url, "See the account")
    if count := count_open_requests():
        sentence = "Somebody who may rebuild has to grant or deny."
        url = reverse("projections:requests")
        headline = f"{counted(count, 'rebuild is', 'rebuilds are')} asked for"
        yield Need(headline, sentence, url, "See the requests", "warn")


def find_late() -> Iterator[Need]:
    """Those that nobody consumes, and those that are too far behind; one small query while nothing waits."""
    lags = {pk: lag for pk, lag in get_lags().items() if lag.is_behind}
    if not lags:
        return
    rows = Projection.objects.filter(pk__in=lags, source=NATIVE, state__in=WATCHED)
    consumed = list_consumed()
    left_alone: dict[str, list[Projection]] = {}
    late = []
    for row in rows.defer("stacktrace", "tries").order_by("name"):
        is_consumed = row.name in consumed
        if is_left_alone(row, lags[row.pk], is_consumed):
            left_alone.setdefault(explain_left_alone(row), []).append(row)
        elif lags[row.pk].is_too_far(row.grace_seconds):
            late.append((row, lags[row.pk], is_consumed))
    for why, some in left_alone.items():
        yield describe_left_alone(some, why, [lags[row.pk] for row in some])
    if len(late) > MOST_NEEDS:
        yield sum_up([row.name for row, _, _ in late])
    else:
        yield from (describe_late(*found) for found in late)


def describe_left_alone(rows: list[Projection], why: str, lags: list[Lag]) -> Need:
    """One process consumes them all, so they are one need."""
    waited = max(lag.delay_seconds for lag in lags)
    # Of an event that the store has no longer nobody can tell the age.
    since = f"The oldest event has waited for {duration(waited)}. " if waited else ""
    if len(rows) == 1:
        url = reverse("projections:projection", args=[rows[0].pk])
        return Need(f"Nobody consumes {rows[0].name}", f"{since}{why}", url, "See the projection")
    headline = f"Nobody consumes {len(rows):,} projections"
    sentence = f"{name_some([row.name for row in rows], len(rows))}. {since}{why}"
    return Need(headline, sentence, reverse("projections:projections"), "See the projections")


def describe_late(row: Projection, lag: Lag, is_consumed: bool) -> Need:
    # What its account misses is a need of its own.
    row.accounting = {}
    reason = explain(row, Measures(lag, Rates(), []), is_consumed=is_consumed)
    # That it is only slow its own page tells with figures.
    is_at_work = is_consumed and not row.block and row.state == Projection.State.RUNNING
    why = "It is at work." if is_at_work else reason.sentence
    url = reverse("projections:projection", args=[row.pk])
    return describe_lag(row.name, lag, why, url, reason.tone)


def describe_lag(name: str, lag: Lag, why: str, url: str, tone: str = "warn", bound: str = "") -> Need:
    return Need(
        f"{name} is {bound}{counted(lag.events, 'event')} behind",
        f"The oldest has waited for {duration(lag.delay_seconds)}. {why}",
        url,
        "See the projection",
        tone,
    )


def sum_up(names: list[str]) -> Need:
    sentence = f"{name_some(names, len(names))} have fallen behind."
    url = reverse("projections:projections")
    return Need(f"{len(names):,} projections are behind", sentence, url, "See the projections", "warn")


def name_some(names: list[str], number: int) -> str:
    """The first few of so many."""
    shown = names[:MOST_NAMED]
    last = f"{number - len(shown):,} more" if number > len(shown) else shown.pop()
    return f"{', '.join(shown)} and {last}" if shown else last
