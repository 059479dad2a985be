from django.contrib import messages
from django.core.exceptions import BadRequest
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from breakers import operations, queries
from breakers.forms import ReasonForm, TripForm
from breakers.models import Breaker
from breakers.operations import BreakerError
from breakers.rows import Row
from breakers.tables import TransitionTable
from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page, saying_refusal
from dashboard.paging import live_url

STATES = ("", "open", "closed")
LONGEST_SEARCH = 200
AWAY = "The {} is on record. Redis does not answer; it takes effect as soon as Redis is back."


@require_safe
def list_breakers(request: HtmxHttpRequest) -> HttpResponse:
    search = request.GET.get("q", "").strip()[:LONGEST_SEARCH]
    state = request.GET.get("state", "")
    if state not in STATES:
        raise BadRequest(f"state is {state!r}; it can be open, closed or empty.")
    first_open = request.GET.get("from", "0")
    if not first_open.isascii() or not first_open.isdigit() or len(first_open) > 6:
        raise BadRequest(f"from is {first_open!r}; it can be the number of a row, of at most six digits.")
    board = queries.get_board(request.GET, search=search, state=state, first_open=int(first_open))
    context = {
        "board": board,
        "q": search,
        "state": state,
        "live_url": live_url(request, board.others) if board.others else request.get_full_path(),
    }
    return render_page(request, "breakers/breakers.html", context, title="Breakers")


@require_safe
def show_breaker(request: HtmxHttpRequest) -> HttpResponse:
    row = get_row(request.GET)
    context = {
        "row": row,
        "note": queries.get_note(row),
        "days": queries.list_days(row),
        "transitions": TransitionTable(queries.list_transitions(row.breaker)),
        "live_url": request.get_full_path(),
    }
    return render_page(request, "breakers/breaker.html", context, title=row.breaker.name)


@require_safe
@needs("breaker.trip")
def confirm_trip(request: HtmxHttpRequest) -> HttpResponse:
    row = get_row(request.GET)
    return render_trip(request, row, TripForm()) if row.is_ours else refuse_trip(request, row)


@require_POST
@needs("breaker.trip")
def trip(request: HtmxHttpRequest) -> HttpResponse:
    row = get_row(request.POST)
    if not row.is_ours:
        return refuse_trip(request, row)
    form = TripForm(request.POST)
    if not form.is_valid():
        return render_trip(request, row, form, status=400)
    reason = form.cleaned_data["reason"]
    with saying_refusal(request, BreakerError):
        is_done = operations.trip_breaker(
            row.breaker.name, actor=request.user, reason=reason, hold_for=form.hold_for()
        )
        if is_done:
            messages.success(request, f"{row.breaker.name} is held open. Calls to it are refused.")
        else:
            messages.warning(request, AWAY.format("trip"))
    return redirect(row.url)


@require_safe
@needs("breaker.reset")
def confirm_reset(request: HtmxHttpRequest) -> HttpResponse:
    return render_reset(request, get_row(request.GET), ReasonForm())


@require_POST
@needs("breaker.reset")
def reset(request: HtmxHttpRequest) -> HttpResponse:
    row = get_row(request.POST)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return render_reset(request, row, form, status=400)
    reason = form.cleaned_data["reason"]
    with saying_refusal(request, BreakerError):
        is_done = True
        if row.is_ours:
            is_done = operations.reset_breaker(row.breaker.name, actor=request.user, reason=reason)
        else:
            operations.reset_foreign(row.breaker, actor=request.user, reason=reason)
        if is_done:
            messages.success(request, f"{row.breaker.name} is closed. Calls to it go through.")
        else:
            messages.warning(request, AWAY.format("reset"))
    return redirect(row.url)


def get_row(params: QueryDict) -> Row:
    """The breaker that the address or the form names."""
    return queries.get_row(params.get("source", Breaker.OURS), params.get("name", ""))


def refuse_trip(request: HtmxHttpRequest, row: Row) -> HttpResponse:
    """One of another library may have the name of one of ours, which must not be tripped in its place."""
    why = row.reader.why_no_trip if row.reader else f"{row.source_label} is no longer read here."
    messages.warning(request, f"{row.breaker.name} cannot be held open: {why}")
    return redirect(row.url)


def render_trip(request: HtmxHttpRequest, row: Row, form: TripForm, *, status: int = 200) -> HttpResponse:
    context = {"row": row, "form": form}
    title = f"Trip {row.breaker.name}"
    return render_page(request, "breakers/confirm_trip.html", context, title=title, status=status)


def render_reset(request: HtmxHttpRequest, row: Row, form: ReasonForm, *, status: int = 200) -> HttpResponse:
    context = {"row": row, "form": form}
    title = f"Reset {row.breaker.name}"
    return render_page(request, "breakers/confirm_reset.html", context, title=title, status=status)
