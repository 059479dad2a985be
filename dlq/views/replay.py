"""Replay: a page that says what will be touched, and the verb that starts exactly that; the switch for all of them."""

from shlex import quote
from typing import NamedTuple
from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.posted import read_number, read_request_key
from dlq.filters import LetterFilter
from dlq.forms import ReplayForm
from dlq.models import ReplaySwitch
from dlq.operations import ReplayRefused, allow_replays, start_replay, stop_replays
from dlq.operations.errors import ConfirmAgain, OperationError
from dlq.queries.replay import ReplayPreview, preview_replay
from dlq.queries.replay_run import MOST_COUNTED, count_active_replays
from dlq.statuses import OPEN
from dlq.views.selecting import (
    FORM_FIELDS,
    back_url,
    is_typed,
    read_selection,
    refuse_untyped,
)

# What the confirmation adds to the selection when it posts it back.
OWN_FIELDS = FORM_FIELDS | {*ReplayForm.base_fields, "acknowledged"}
# A reason that somebody still has to give, on the command line.
REASON = "--reason '…'"


@require_safe
@needs("replay.start")
def confirm_replay(request: HtmxHttpRequest) -> HttpResponse:
    return confirm(request, request.GET)


def confirm(
    request: HtmxHttpRequest,
    params: QueryDict,
    *,
    problem: str = "",
    wrong: str = "",
    untyped: int = 0,
    again: ConfirmAgain | None = None,
    status: int = 200,
) -> HttpResponse:
    """Count what would be replayed and say what follows; after a problem, with the numbers as they are now."""
    selection = read_selection(request, params, watermark=None)
    found = preview_replay(selection, **read_extent(params))
    if untyped:
        problem, wrong = refuse_untyped(f"replay {untyped:,} letters", untyped, found.count)
    if again:
        problem = again.tell(found.count)
    context = {
        "preview": found,
        "fields": [
            (name, value) for name, values in params.lists() if name not in OWN_FIELDS for value in values
        ],
        "form": ReplayForm(params if problem else None),
        "force": "force" in params,
        "force_url": with_param(params, "force"),
        "earlier_url": with_param(params, "with_earlier"),
        "command": write_command(params, found),
        "back": back_url(without_own(params)),
        "request_key": uuid4(),
        "type_above": settings.TYPE_NUMBER_ABOVE,
        "switch": ReplaySwitch.objects.first(),
        "problem": problem,
        "wrong": wrong,
    }
    title = found.title if found.count else "Nothing to replay"
    return render_page(request, "dlq/confirm_replay.html", context, title=title, status=status)


@require_POST
@needs("replay.start")
def start(request: HtmxHttpRequest) -> HttpResponse:
    params = request.POST
    confirmed = read_number(params, "count")
    form = ReplayForm(params)
    if not form.is_valid():
        return confirm(request, params, problem=form.problem, status=422)
    if not is_typed(params, confirmed):
        return confirm(request, params, untyped=confirmed, status=422)
    extent = read_extent(params)
    try:
        run = start_replay(
            read_selection(request, params, watermark=read_number(params, "watermark")),
            confirmed=confirmed,
            options=form.options(force=extent["force"]),
            actor=request.user,
            request_key=read_request_key(params),
            reason=form.cleaned_data["reason"],
            with_earlier=extent["with_earlier"],
            acknowledged="acknowledged" in params,
        )
    except ReplayRefused as error:
        return confirm(request, params, problem=str(error), wrong=error.field, status=409)
    except ConfirmAgain as error:
        return confirm(request, params, again=error, status=409)
    except OperationError as error:
        return confirm(request, params, problem=str(error), status=409)
    return redirect("runs:run", run_id=run.pk)


@require_safe
@needs("replay.stop_all")
def confirm_stop(request: HtmxHttpRequest) -> HttpResponse:
    return render_switch(request, "dlq/confirm_stop_replays.html", "Stop all replays")


@require_POST
@needs("replay.stop_all")
def stop(request: HttpRequest) -> HttpResponse:
    stop_replays(actor=request.user, reason=request.POST.get("reason", "").strip())
    messages.success(request, "All replays stop after the slice in hand, and none starts.")
    return redirect("runs:runs")


@require_safe
@needs("replay.allow_all")
def confirm_allow(request: HtmxHttpRequest) -> HttpResponse:
    return render_switch(request, "dlq/confirm_allow_replays.html", "Allow replays again")


@require_POST
@needs("replay.allow_all")
def allow(request: HttpRequest) -> HttpResponse:
    allow_replays(actor=request.user, reason=request.POST.get("reason", "").strip())
    messages.success(request, "Replays go on where they were.")
    return redirect("runs:runs")


def render_switch(request: HtmxHttpRequest, template: str, title: str) -> HttpResponse:
    """The switch for all replays as it is, and how many of them it is about."""
    context = {
        "active_count": count_active_replays(),
        "most_counted": MOST_COUNTED,
        "switch": ReplaySwitch.objects.first(),
    }
    return render_page(request, template, context, title=title)


def read_extent(params: QueryDict) -> dict[str, bool]:
    return {name: name in params for name in ("force", "with_earlier")}


def without_own(params: QueryDict) -> QueryDict:
    kept = params.copy()
    for name in OWN_FIELDS | {"force", "with_earlier"}:
        kept.pop(name, None)
    return kept


def with_param(params: QueryDict, name: str) -> str:
    """The same confirmation, with a larger extent."""
    kept = without_own(params)
    for extent in {name} | {given for given, is_given in read_extent(params).items() if is_given}:
        kept[extent] = "1"
    return f"{reverse('dlq:confirm_replay')}?{kept.urlencode()}"


class Command(NamedTuple):
    """The same on the command line; between its two parts stands the start that is chosen on the page."""

    which: str
    rest: str


def write_command(params: QueryDict, found: ReplayPreview) -> Command:
    """With all that it would be refused without."""
    scope = params.get("scope")
    if scope == "group":
        which = [f"--group {read_number(params, 'group')}"]
    elif scope == "run":
        which = [f"--failed-in-run {read_number(params, 'run')}"]
    elif scope == "matching":
        given = [(name, params[name]) for name in LetterFilter.base_fields if params.get(name)]
        which = [f"--filter {quote(f'{name}={value}')}" for name, value in given or [("status", OPEN)]]
    else:
        which = [f"--letter {int(pk)}" for pk in params.getlist("id") if pk.isascii() and pk.isdigit()]
    extent = [f"--{name.replace('_', '-')}" for name, is_given in read_extent(params).items() if is_given]
    needed = [*(["--acknowledge"] if found.later_count else []), *([REASON] if "force" in params else [])]
    return Command(" ".join(["python3 manage.py replay", *which, *extent]), " ".join(needed))
