"""Replay from the event store: choose events, see what would be handled once more, and start exactly that."""

from datetime import datetime
from shlex import quote
from uuid import uuid4

from django.conf import settings
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.posted import read_number, read_request_key
from dlq.forms import EventsForm, ReplayForm
from dlq.models import ReplaySwitch
from dlq.operations import ReplayRefused, start_reprocess
from dlq.operations.errors import ConfirmAgain, OperationError
from dlq.queries.reprocess import preview_reprocess
from dlq.reprocess.choice import EventChoice
from dlq.views.replay import REASON, Command
from dlq.views.selecting import is_typed, refuse_untyped
from projections.api import PickError


@require_safe
@needs("event.reprocess")
def choose_events(request: HtmxHttpRequest) -> HttpResponse:
    return show(request, request.GET)


@require_POST
@needs("event.reprocess")
def start(request: HtmxHttpRequest) -> HttpResponse:
    params = request.POST
    confirmed, watermark = read_number(params, "count"), read_number(params, "watermark")
    events, form = EventsForm(params), ReplayForm(params)
    if not events.is_valid():
        return show(request, params, status=422)
    if not form.is_valid():
        return show(request, params, problem=form.problem, status=422)
    if not is_typed(params, confirmed):
        return show(request, params, untyped=confirmed, status=422)
    try:
        run = start_reprocess(
            events.choice,
            watermark=watermark,
            confirmed=confirmed,
            options=form.options(force=False),
            actor=request.user,
            request_key=read_request_key(params),
            reason=form.cleaned_data["reason"],
            acknowledged="acknowledged" in params,
        )
    except ReplayRefused as error:
        return show(request, params, problem=str(error), wrong=error.field, status=409)
    except ConfirmAgain as error:
        return show(request, params, problem=str(error), again=error, status=409)
    except OperationError as error:
        return show(request, params, problem=str(error), status=409)
    return redirect("runs:run", run_id=run.pk)


def show(
    request: HtmxHttpRequest,
    params: QueryDict,
    *,
    problem: str = "",
    wrong: str = "",
    untyped: int = 0,
    again: ConfirmAgain | None = None,
    status: int = 200,
) -> HttpResponse:
    """The choice, and once it makes sense what it means; after a problem, with the numbers as they are now."""
    events = EventsForm(params if params else None)
    preview = None
    if events.is_bound and events.is_valid():
        try:
            preview = preview_reprocess(events.choice)
        except PickError as error:
            problem, status = problem or str(error), max(status, 422)
    elif events.is_bound:
        status = max(status, 400)
    if preview and untyped:
        problem, wrong = refuse_untyped(f"reprocess {untyped:,} events", untyped, preview.count, "event")
    if preview and again:
        problem = again.tell(preview.count)
    context = {
        "events": events,
        "zone": settings.TIME_ZONE,
        "preview": preview,
        "chosen": list_chosen(events.choice) if preview else [],
        "command": write_command(events.choice) if preview else None,
        "form": ReplayForm(params if request.method == "POST" else None),
        "request_key": uuid4(),
        "type_above": settings.TYPE_NUMBER_ABOVE,
        "switch": ReplaySwitch.objects.first(),
        "problem": problem,
        "wrong": wrong,
    }
    title = "Reprocess events"
    if preview:
        title = preview.title if preview.count else "Nothing to reprocess"
    return render_page(request, "dlq/events.html", context, title=title, status=status)


def list_chosen(choice: EventChoice) -> list[tuple[str, str]]:
    """The choice as the confirmation posts it back."""
    times = [(name, at.isoformat()) for name, at in (("since", choice.since), ("until", choice.until)) if at]
    types = [("type", name) for name in choice.types]
    return [("consumer", choice.consumer), ("stream", choice.stream), *types, *times]


def write_command(choice: EventChoice) -> Command:
    """With all that it would be refused without."""
    parts = ["python3 manage.py replay", f"--events {quote(choice.consumer)}"]
    parts += [f"--stream {quote(choice.stream)}"] if choice.stream else []
    parts += [f"--type {quote(name)}" for name in choice.types]
    parts += [
        f"--{name} {write_time(at)}" for name, at in (("since", choice.since), ("until", choice.until)) if at
    ]
    return Command(" ".join(parts), f"--acknowledge {REASON}")


def write_time(at: datetime) -> str:
    return timezone.localtime(at).isoformat()
