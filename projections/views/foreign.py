"""The page of a projection that others run, and the one thing that can be done with it from here."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page, saying_refusal
from dashboard.posted import read_request_key
from dlq.api import list_recent
from projections import operations
from projections.foreign import queries
from projections.foreign.reset import find_last_refused
from projections.models import ForeignProjection
from projections.operations import ProjectionStateError
from projections.tables import HistoryTable
from projections.views.confirm import Confirmation, ask, get_reason

RECENT_SIZE = 10


@require_safe
def show_foreign(request: HtmxHttpRequest, foreign_id: int) -> HttpResponse:
    projection = get_object_or_404(ForeignProjection, pk=foreign_id)
    history = queries.list_history(projection)
    context = {
        "row": queries.get_foreign_row(projection),
        "projection": projection,
        "no_reset": queries.find_refusal(projection),
        "recent": list_recent(projection.name, source=projection.source, limit=RECENT_SIZE),
        "last_refused": find_last_refused(history),
        "history": HistoryTable(history),
        "live_url": request.path,
    }
    return render_page(request, "projections/foreign/foreign.html", context, title=projection.name)


@require_safe
@needs("projection.reset")
def confirm_reset(request: HtmxHttpRequest, foreign_id: int) -> HttpResponse:
    row = get_object_or_404(ForeignProjection, pk=foreign_id)
    confirmation = Confirmation(
        f"Reset the checkpoint of {row}?",
        describe_reset(row),
        reverse("projections:foreign_reset", args=[row.pk]),
        "Reset the checkpoint",
        reverse("projections:foreign", args=[row.pk]),
        "danger",
        typed=row.name,
        fields={"stamp": row.stamp},
    )
    return ask(request, confirmation)


@require_POST
@needs("projection.reset")
def reset(request: HttpRequest, foreign_id: int) -> HttpResponse:
    row = get_object_or_404(ForeignProjection, pk=foreign_id)
    if request.POST.get("typed", "").strip() != row.name:
        messages.warning(request, f"Nothing was done: type {row.name} to confirm.")
        return redirect("projections:foreign", foreign_id=row.pk)
    key = read_request_key(request.POST)
    with saying_refusal(request, ProjectionStateError):
        run = operations.reset_foreign_checkpoint(
            row,
            request.POST.get("stamp", "")[:100],
            actor=request.user,
            reason=get_reason(request),
            request_key=key,
        )
        return redirect("runs:run", run_id=run.pk)
    return redirect("projections:foreign", foreign_id=row.pk)


def describe_reset(row: ForeignProjection) -> list[str]:
    place, again = row.checkpoint, "every event from the first on"
    if row.position is not None and row.head is not None:
        place, again = f"{row.position:,} of {row.head:,}", f"all events from 1 to {row.head:,} and on"
    sentences = [
        f"It is at {place}. Its checkpoint is deleted at {row.source}, so that its worker handles {again} when it is "
        "started again. Its read model is not emptied: do that yourself, unless its handlers bear repetition.",
        "This is refused if its worker is seen or may run still, or if its checkpoint has moved since you opened this. "
        "It is watched afterwards: a worker that was not stopped would write it anew at the head.",
    ]
    if row.worker_seen_at is None:
        sentences.append("Its worker was never seen from here: make sure yourself that it is stopped.")
    return sentences
