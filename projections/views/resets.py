"""Setting a checkpoint by hand: choose where to, see what follows, confirm."""

from datetime import datetime

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.posted import quote, read_number
from dashboard.words import agree, counted
from projections import operations, queries
from projections.definition import find_projector
from projections.models import Projection
from projections.store import find_position, get_tail
from projections.views.confirm import Confirmation, ask, get_reason
from projections.views.rebuilds import start, warn_of_effects

# Targets that have a field of their own.
FIELDS = ("position", "time")


@require_safe
@needs("projection.reset")
def confirm_reset(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    """Without a target in the address, the choice of one; with it, what follows and the form that does it."""
    row = get_object_or_404(Projection, pk=projection_id)
    if "to" not in request.GET:
        return choose_target(request, row)
    try:
        position = read_target(request.GET)
    except BadRequest as error:
        return choose_target(request, row, problem=str(error), status=400)
    if problem := operations.why_no_reset(row, position):
        return choose_target(request, row, problem=problem, status=409)
    confirmation = Confirmation(
        f"Set the checkpoint of {row} to {position:,}?",
        describe_reset(row, position),
        reverse("projections:reset", args=[row.pk]),
        f"Set the checkpoint to {position:,}",
        reverse("projections:projection", args=[row.pk]),
        "danger",
        typed=row.name,
        fields={"position": position, "was_at": row.position},
    )
    return ask(request, confirmation)


def choose_target(
    request: HtmxHttpRequest, row: Projection, *, problem: str = "", status: int = 200
) -> HttpResponse:
    """The form that asks where to; after a problem with what was given, and the problem at its field."""
    to = request.GET.get("to", "")
    to = to if to in FIELDS else ""
    context = {
        "row": row,
        "back": reverse("projections:projection", args=[row.pk]),
        "problem": problem,
        "zone": timezone.get_current_timezone_name(),
        "to": to or "position",
        # The field at which it is said; empty: at none.
        "wrong": to if problem else "",
        "position": request.GET.get("position", str(row.position))[:40],
        "time": request.GET.get("time", "")[:40],
    }
    title = f"Reset the checkpoint of {row}"
    return render_page(request, "projections/choose_reset.html", context, title=title, status=status)


@require_POST
@needs("projection.reset")
def reset(request: HttpRequest, projection_id: int) -> HttpResponse:
    row = get_object_or_404(Projection, pk=projection_id)
    position, was_at = read_number(request.POST, "position"), read_number(request.POST, "was_at")
    return start(
        request,
        row,
        lambda key: operations.reset_checkpoint(
            row, position, actor=request.user, reason=get_reason(request), request_key=key, was_at=was_at
        ),
    )


def describe_reset(row: Projection, position: int) -> list[str]:
    again, left_out = queries.preview_reset(row, position)
    runs = ["It runs again from there."] if row.state == Projection.State.STOPPED else []
    if position < row.position:
        events = counted(again, "event of its types is", "events of its types are")
        return [
            f"{row} goes back from {row.position:,} to {position:,}: {events} handled again, and so is what it handles "
            "until the reset is done.",
            "The read model is not emptied: what its handlers add, they add a second time."
            + (" A rebuild would empty it." if supports_rebuild(row) else ""),
            *warn_of_effects(row),
            *runs,
        ]
    if position > row.position:
        events = counted(left_out, "event of its types is", "events of its types are")
        return [
            f"{row} goes forward from {row.position:,} to {position:,}: {events} never handled. No letter tells of "
            f"{agree(left_out, 'it', 'them')}.",
            "The account begins there.",
            *runs,
        ]
    tried = ["What holds it up is tried afresh."] if row.block else []
    return [f"{row} stays at {position:,}, and the account begins there.", *tried, *runs]


def supports_rebuild(row: Projection) -> bool:
    projector = find_projector(row.name)
    return projector is not None and projector.supports_rebuild


def read_target(params: QueryDict) -> int:
    """The position that the form asks for: the start, a position, or a time."""
    to = params.get("to", "")
    if to == "start":
        return get_tail()
    if to == "position":
        return read_number(params, "position")
    if to == "time":
        return find_position(read_time(params))
    raise BadRequest(f"to is {to[:40]!r}; it can be start, position or time.")


def read_time(params: QueryDict) -> datetime:
    given = params.get("time", "")
    try:
        at = parse_datetime(given)
    except ValueError:
        at = None
    if at is None:
        raise BadRequest(f"time is {quote(given)}; it can be a date and a time, such as 2026-01-31T18:30.")
    return at if timezone.is_aware(at) else timezone.make_aware(at)
