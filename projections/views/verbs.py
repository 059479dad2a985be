"""What an operator can do with a projection, at once."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, saying_refusal
from dashboard.posted import read_number
from projections import operations
from projections.models import Projection, Skip
from projections.operations import ProjectionStateError
from projections.store.read import find_event
from projections.views.confirm import Confirmation, ask, get_reason


@require_safe
@needs("projection.pause")
def confirm_pause(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    row = get_object_or_404(Projection, pk=projection_id)
    sentences = [
        "It stops after the batch in hand and keeps its place. Its lag grows until somebody resumes it."
    ]
    return ask(request, make(row, f"Pause {row}?", sentences, "pause", f"Pause {row}"))


@require_POST
@needs("projection.pause")
def pause(request: HttpRequest, projection_id: int) -> HttpResponse:
    reason = get_reason(request)
    return change(
        request,
        projection_id,
        lambda row: operations.pause_projection(row, actor=request.user, reason=reason),
        "is paused; it stops after the batch in hand.",
    )


@require_POST
@needs("projection.resume")
def resume(request: HttpRequest, projection_id: int) -> HttpResponse:
    is_blocked = Projection.objects.filter(pk=projection_id, block__gt="").exists()
    return change(
        request,
        projection_id,
        lambda row: operations.resume_projection(row, actor=request.user),
        # Asked for, and not done: it may stop there again in a moment.
        "tries again from its checkpoint; if that fails too, it says so here."
        if is_blocked
        else "goes on from its checkpoint.",
    )


@require_safe
@needs("projection.skip")
def confirm_skip(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    row = get_object_or_404(Projection, pk=projection_id)
    name = name_blocked(row)
    if not name:
        return turn_away(request, row)
    sentences = [
        *warn_of_outage(row),
        f"{row} goes on without the effect of {name}, now and in every rebuild.",
        "Later events of its stream are handled as if it had not happened. It stays on record under skipped events.",
    ]
    question, button = f"Skip the event at {row.position + 1:,}?", "Skip 1 event"
    fields = {"position": row.position + 1}
    return ask(request, make(row, question, sentences, "skip", button, tone="danger", fields=fields))


@require_POST
@needs("projection.skip")
def skip(request: HttpRequest, projection_id: int) -> HttpResponse:
    position, reason = read_number(request.POST, "position"), get_reason(request)
    return change(
        request,
        projection_id,
        lambda row: operations.skip_event(row, position, actor=request.user, reason=reason),
        f"has skipped the event at {position:,}.",
    )


@require_safe
@needs("projection.dead_letter")
def confirm_dead_letter(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    row = get_object_or_404(Projection, pk=projection_id)
    name = name_blocked(row)
    if not name:
        return turn_away(request, row)
    sentences = [
        *warn_of_outage(row),
        f"{name} becomes a dead letter of {row}, and {row} goes on.",
        "Later events of its stream are parked behind it, in order, until it is replayed or closed.",
    ]
    question, button = f"Make the event at {row.position + 1:,} a dead letter?", "Dead-letter 1 event"
    fields = {"position": row.position + 1}
    return ask(request, make(row, question, sentences, "dead_letter", button, fields=fields))


@require_POST
@needs("projection.dead_letter")
def dead_letter(request: HttpRequest, projection_id: int) -> HttpResponse:
    position, reason = read_number(request.POST, "position"), get_reason(request)
    return change(
        request,
        projection_id,
        lambda row: operations.dead_letter_event(row, position, actor=request.user, reason=reason),
        f"has the event at {position:,} as a dead letter; its stream is parked behind it.",
    )


@require_safe
@needs("skip.bring_back")
def confirm_bring_back(request: HtmxHttpRequest, skip_id: int) -> HttpResponse:
    skip = get_object_or_404(Skip.objects.select_related("projection"), pk=skip_id)
    sentences = [
        f"{skip.event_type} of stream {skip.stream} becomes an open dead letter of {skip.projection}, to be replayed.",
        "Later events of its stream may have been handled already; new ones are parked until it is replayed or closed.",
    ]
    action = reverse("projections:bring_back", args=[skip.pk])
    question, button = "Bring the skipped event back?", "Bring 1 event back"
    back = reverse("projections:skips")
    return ask(request, Confirmation(question, sentences, action, button, back))


@require_POST
@needs("skip.bring_back")
def bring_back(request: HttpRequest, skip_id: int) -> HttpResponse:
    skip = get_object_or_404(Skip.objects.select_related("projection"), pk=skip_id)
    with saying_refusal(request, ProjectionStateError):
        letter_id = operations.bring_back_skip(skip, actor=request.user, reason=get_reason(request))
        return redirect("dlq:letter", letter_id=letter_id)
    return redirect("projections:skips")


def name_blocked(row: Projection) -> str:
    """The event that holds it up, in words; empty: none does."""
    event = find_event(row.position + 1) if row.block else None
    # An outage may hold it up before an event of another type.
    return f"{event.type} of stream {event.stream}" if event and event.type in row.event_types else ""


def warn_of_outage(row: Projection) -> list[str]:
    """Nobody knows at which event of the batch an outage struck."""
    if row.block != Projection.Block.INFRASTRUCTURE:
        return []
    return ["Infrastructure holds it up, and perhaps not this event, which is only the next in line."]


def turn_away(request: HtmxHttpRequest, row: Projection) -> HttpResponse:
    """Nothing holds it up any more: its page says so, also in place of a dialog."""
    messages.warning(request, f"No event holds {row} up now.")
    address = reverse("projections:projection", args=[row.pk])
    return HttpResponseClientRedirect(address) if request.htmx else redirect(address)


def make(
    row: Projection,
    question: str,
    sentences: list[str],
    verb: str,
    button: str,
    *,
    tone: str = "primary",
    fields: dict[str, int] | None = None,
) -> Confirmation:
    action, back = (reverse(f"projections:{name}", args=[row.pk]) for name in (verb, "projection"))
    return Confirmation(question, sentences, action, button, back, tone, fields=fields or {})


def change(
    request: HttpRequest, projection_id: int, operation: Callable[[Projection], None], done: str
) -> HttpResponse:
    """Do it and go back to the projection, and say what it has `done`, or why its state does not allow it."""
    row = get_object_or_404(Projection, pk=projection_id)
    with saying_refusal(request, ProjectionStateError):
        operation(row)
        messages.success(request, f"{row} {done}")
    return redirect("projections:projection", projection_id=row.pk)
