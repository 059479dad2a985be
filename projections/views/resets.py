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
from projections import operations, queries
from projections.definition import find_projector
from projections.models import Projection
from projections.store import find_position, get_tail
from projections.views.confirm import Confirmation, ask, get_reason
from projections.views.rebuilds import start, warn_of_effects
from projections.views.verbs import read_position

# Targets that have a field of their own.
FIELDS = ("position", "time")


@require_safe
@needs("projection.reset")
def confirm_reset(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    """Without a target in the address, the choice of one; with it, what follows and the form that does it."""
    row = get_object_or_404(Projection, pk=projection_id)
    back = reverse("projections:projection", args=[row.pk])
    position, problem, status = None, "", 200
    if "to" in request.GET:
        try:
            position = read_target(request.GET)
        except BadRequest as error:
            problem, status = str(error), 400
        else:
            problem, status = operations.why_no_reset(row, position), 409
    if position is None or problem:
        to = request.GET.get("to", "")
        to = to if to in FIELDS else ""
        context = {
            "row": row,
            "back": back,
            "problem": problem,
            "zone": timezone.get_current_timezone_name(),
            "to": to or "position",
            # The field at which it is said; empty: at none.
            "wrong": to if problem else "",
            "position": request.GET.get("position", "")[:40] or row.position,
            "time": request.GET.get("time", "")[:40],
        }
        title = f"Reset the checkpoint of {row}"
        return render_page(request, "projections/choose_reset.html", context, title=title, status=status)
    confirmation = Confirmation(
        f"Set the checkpoint of {row} to {position:,}?",
        describe_reset(row, position),
        reverse("projections:reset", args=[row.pk]),
        f"Set the checkpoint to {position:,}",
        back,
        "danger",
        typed=row.name,
        fields={"position": position},
    )
    return ask(request, confirmation)


@require_POST
@needs("projection.reset")
def reset(request: HttpRequest, projection_id: int) -> HttpResponse:
    row = get_object_or_404(Projection, pk=projection_id)
    position = read_position(request.POST)
    return start(
        request,
        row,
        lambda key: operations.reset_checkpoint(
            row, position, actor=request.user, reason=get_reason(request), request_key=key
        ),
    )


def describe_reset(row: Projection, position: int) -> list[str]:
    again, left_out = queries.preview_reset(row, position)
    runs = ["It runs again from there."] if row.state == Projection.State.STOPPED else []
    if position < row.position:
        events = "1 event of its types is" if again == 1 else f"{again:,} events of its types are"
        return [
            f"{row} goes back from {row.position:,} to {position:,}. {events} handled again, and so is what it handles "
            "before the reset is done.",
            "The read model is not emptied: what its handlers add, they add a second time."
            + (" A rebuild would empty it." if supports_rebuild(row) else ""),
            *warn_of_effects(row),
            *runs,
        ]
    if position > row.position:
        events = "1 event of its types is" if left_out == 1 else f"{left_out:,} events of its types are"
        return [
            f"{row} goes forward from {row.position:,} to {position:,}. {events} never handled. No letter tells of "
            f"{'it' if left_out == 1 else 'them'}.",
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
        return read_position(params)
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
        raise BadRequest(f"time is {given[:40]!r}; it can be a date and a time, such as 2026-01-31T18:30.")
    return at if timezone.is_aware(at) else timezone.make_aware(at)
