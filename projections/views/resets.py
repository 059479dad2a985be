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
from projections.models import Projection
from projections.store import find_position, get_tail
from projections.views.confirm import Confirmation, ask, get_reason
from projections.views.rebuilds import start
from projections.views.verbs import read_position


@require_safe
@needs("projection.reset")
def confirm_reset(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    """Without a target in the address, the choice of one; with it, what follows and the form that does it."""
    row = get_object_or_404(Projection, pk=projection_id)
    back = reverse("projections:projection", args=[row.pk])
    position = read_target(request.GET) if "to" in request.GET else None
    problem = "" if position is None else operations.why_no_reset(row, position)
    if position is None or problem:
        context = {"row": row, "back": back, "problem": problem, "zone": timezone.get_current_timezone_name()}
        title = f"Reset the checkpoint of {row}"
        status = 409 if problem else 200
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
    if position < row.position:
        return [
            f"{row} goes back from {row.position:,} to {position:,}. Events of its types that are handled again: "
            f"{again:,}, and what it handles until then.",
            "The read model is not emptied: what its handlers add, they add a second time. A rebuild would empty it.",
        ]
    if position > row.position:
        return [
            f"{row} goes forward from {row.position:,} to {position:,}. Events of its types that are never "
            f"handled: {left_out:,}. No letter tells of them.",
            "The account begins there.",
        ]
    return [f"{row} stays at {position:,}. What holds it up is tried afresh, and the account begins there."]


def read_target(params: QueryDict) -> int:
    """The position that the form asks for: the start, a position, or a time."""
    to = params.get("to")
    if to == "start":
        return get_tail()
    return find_position(read_time(params)) if to == "time" else read_position(params)


def read_time(params: QueryDict) -> datetime:
    try:
        at = parse_datetime(params.get("time", ""))
    except ValueError:
        at = None
    if at is None:
        raise BadRequest("time is a date and a time, such as 2026-01-31T18:30.")
    return at if timezone.is_aware(at) else timezone.make_aware(at)
