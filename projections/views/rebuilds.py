"""Rebuilds, and requests for them."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import may, needs
from dashboard.models import Run
from dashboard.pages import HtmxHttpRequest, saying_refusal
from dashboard.posted import read_request_key
from dashboard.words import clause, counted, duration
from projections import operations, queries
from projections.models import Effects, Projection, RebuildRequest
from projections.operations import ProjectionStateError
from projections.views.confirm import Confirmation, ask, get_reason

ONLY_ASKED = (
    "None of this happens before somebody who may rebuild grants it. The request expires after a day."
)


@require_safe
@needs("projection.request_rebuild")
def confirm_rebuild(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    """For who may rebuild, the rebuild; for the others, the request for one."""
    row = get_object_or_404(Projection, pk=projection_id)
    verb = "rebuild" if may(request.user, "projection.rebuild") else "request_rebuild"
    question = f"Rebuild {row}?" if verb == "rebuild" else f"Ask for a rebuild of {row}?"
    return ask(
        request,
        Confirmation(
            question,
            [*describe_rebuild(row), *([] if verb == "rebuild" else [ONLY_ASKED])],
            reverse(f"projections:{verb}", args=[row.pk]),
            f"Rebuild {row}" if verb == "rebuild" else "Ask for a rebuild",
            reverse("projections:projection", args=[row.pk]),
            "danger" if verb == "rebuild" else "primary",
            typed=row.name if verb == "rebuild" else "",
        ),
    )


@require_POST
@needs("projection.rebuild")
def rebuild(request: HttpRequest, projection_id: int) -> HttpResponse:
    row = get_object_or_404(Projection, pk=projection_id)
    return start(
        request,
        row,
        lambda key: operations.start_rebuild(
            row, actor=request.user, reason=get_reason(request), request_key=key
        ),
    )


@require_POST
@needs("projection.request_rebuild")
def request_rebuild(request: HttpRequest, projection_id: int) -> HttpResponse:
    row = get_object_or_404(Projection, pk=projection_id)
    with saying_refusal(request, ProjectionStateError):
        operations.request_rebuild(row, actor=request.user, reason=get_reason(request))
        messages.success(request, "The request is on record; somebody who may rebuild decides.")
        return redirect("projections:requests")
    return redirect("projections:projection", projection_id=row.pk)


@require_safe
@needs("projection.grant_rebuild")
def confirm_grant(request: HtmxHttpRequest, request_id: int) -> HttpResponse:
    asked = get_object_or_404(RebuildRequest.objects.select_related("projection"), pk=request_id)
    row = asked.projection
    sentences = [f"{asked.requested_by} asks: {clause(asked.reason)}.", *describe_rebuild(row)]
    action, back = reverse("projections:grant", args=[asked.pk]), reverse("projections:requests")
    question, button = f"Grant the rebuild of {row}?", f"Grant, and rebuild {row}"
    return ask(request, Confirmation(question, sentences, action, button, back, "danger", typed=row.name))


@require_POST
@needs("projection.grant_rebuild")
def grant(request: HttpRequest, request_id: int) -> HttpResponse:
    asked = get_object_or_404(RebuildRequest.objects.select_related("projection"), pk=request_id)
    return start(
        request,
        asked.projection,
        lambda key: operations.grant_rebuild(
            asked, actor=request.user, reason=get_reason(request), request_key=key
        ),
    )


@require_safe
@needs("projection.deny_rebuild")
def confirm_deny(request: HtmxHttpRequest, request_id: int) -> HttpResponse:
    asked = get_object_or_404(RebuildRequest.objects.select_related("projection"), pk=request_id)
    action, back = reverse("projections:deny", args=[asked.pk]), reverse("projections:requests")
    sentences = [
        f"{asked.requested_by} asks: {clause(asked.reason)}.",
        "Nothing is rebuilt; the reason goes on record.",
    ]
    question, button = f"Deny the rebuild of {asked.projection}?", "Deny the request"
    return ask(request, Confirmation(question, sentences, action, button, back))


@require_POST
@needs("projection.deny_rebuild")
def deny(request: HttpRequest, request_id: int) -> HttpResponse:
    asked = get_object_or_404(RebuildRequest.objects.select_related("projection"), pk=request_id)
    with saying_refusal(request, ProjectionStateError):
        operations.deny_rebuild(asked, actor=request.user, reason=get_reason(request))
        messages.success(request, f"The rebuild of {asked.projection} is denied; nothing was changed.")
    return redirect("projections:requests")


def describe_rebuild(row: Projection) -> list[str]:
    preview = queries.preview_rebuild(row)
    takes = "less than a second" if preview.seconds < 1 else f"about {duration(preview.seconds)}"
    pace = (
        "At the pace of its last rebuild" if preview.is_measured else "Its pace is unknown; at a modest one"
    )
    sentences = [
        f"The read model of {row} is emptied by its own truncate(), and the store is gone through from its first "
        f"event: {counted(preview.events, 'event')}, {preview.handled:,} of its types. {pace} that takes {takes}. "
        "Until then readers see it incomplete.",
        *warn_of_effects(row),
        "An event that would stop it when it is live becomes a dead letter, and its stream is parked behind it.",
    ]
    if preview.letters:
        sentences.append(f"Open or parked letters that close as their events succeed: {preview.letters:,}.")
    if preview.overrides:
        sentences.append(
            f"Decisions to skip, discard or replace an event that are honoured: {preview.overrides:,}."
        )
    return sentences


def warn_of_effects(row: Projection) -> list[str]:
    """What is to be said before its events are handled again."""
    if row.effects == Effects.DATABASE:
        return []
    return ["Its effects outside this database happen a second time, and cannot be undone."]


def start(request: HttpRequest, row: Projection, operation: Callable[[UUID], Run]) -> HttpResponse:
    """Start a run, if the name was typed, and go to it; if it cannot be started, say why on the projection's page."""
    if request.POST.get("typed", "").strip() != row.name:
        messages.warning(request, f"Nothing was done: type {row.name} to confirm.")
        return redirect("projections:projection", projection_id=row.pk)
    key = read_request_key(request.POST)
    with saying_refusal(request, ProjectionStateError):
        return redirect("runs:run", run_id=operation(key).pk)
    return redirect("projections:projection", projection_id=row.pk)
