"""Resolve, discard, restore, erase: a page that says what will be touched, and the verb that touches exactly that."""

from uuid import uuid4

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import may, needs
from dashboard.markup import markup
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.posted import read_number, read_request_key
from dashboard.words import agree, counted
from dlq.operations import Done, handle_letters
from dlq.operations.errors import ConfirmAgain, OperationError, ReasonMissing
from dlq.preview import preview
from dlq.verbs import VERBS, Verb
from dlq.views.selecting import (
    FORM_FIELDS,
    back_url,
    is_typed,
    read_selection,
    refuse_untyped,
)


@require_safe
@needs("letter.resolve")
def confirm_resolve(request: HtmxHttpRequest) -> HttpResponse:
    return confirm(request, VERBS["resolve"])


@require_POST
@needs("letter.resolve")
def resolve(request: HtmxHttpRequest) -> HttpResponse:
    return handle(request, VERBS["resolve"])


@require_safe
@needs("letter.discard")
def confirm_discard(request: HtmxHttpRequest) -> HttpResponse:
    return confirm(request, VERBS["discard"])


@require_POST
@needs("letter.discard")
def discard(request: HtmxHttpRequest) -> HttpResponse:
    return handle(request, VERBS["discard"])


@require_safe
@needs("letter.restore")
def confirm_restore(request: HtmxHttpRequest) -> HttpResponse:
    return confirm(request, VERBS["restore"])


@require_POST
@needs("letter.restore")
def restore(request: HtmxHttpRequest) -> HttpResponse:
    return handle(request, VERBS["restore"])


@require_safe
@needs("letter.erase")
def confirm_erase(request: HtmxHttpRequest) -> HttpResponse:
    return confirm(request, VERBS["erase"])


@require_POST
@needs("letter.erase")
def erase(request: HtmxHttpRequest) -> HttpResponse:
    return handle(request, VERBS["erase"])


def confirm(
    request: HtmxHttpRequest,
    verb: Verb,
    params: QueryDict | None = None,
    *,
    problem: str = "",
    wrong: str = "",
    untyped: int = 0,
    again: ConfirmAgain | None = None,
    status: int = 200,
) -> HttpResponse:
    """Count what the verb would touch and say what follows; after a problem, with the numbers as they are now.

    `wrong` names the field at which the problem is said; empty: it is about the whole. `untyped` is the number that
    was confirmed and not typed.
    """
    params = request.GET if params is None else params
    # A new count takes a new watermark: what arrived since is part of it.
    selection = read_selection(request, params, watermark=None, closed=verb.name == "restore")
    found = preview(verb, selection)
    total = found.total(with_followers=True)
    now = found.total(with_followers=params.get("followers") == "along")
    if untyped:
        problem, wrong = refuse_untyped(f"{verb.name} {untyped:,} letters", untyped, now)
    if again:
        problem = again.tell(now)
    # What stands at a field that is not asked for any more would be said nowhere.
    if not found.count:
        wrong = ""
    context = {
        "verb": verb,
        "preview": found,
        "fields": [
            (name, value) for name, values in params.lists() if name not in FORM_FIELDS for value in values
        ],
        "action": reverse(f"dlq:{verb.name}"),
        "back": back_url(params),
        "reason": params.get("reason", ""),
        "request_key": uuid4(),
        "total": total,
        "is_run": found.is_run(with_followers=False),
        "is_run_along": found.is_run(with_followers=True),
        "followers": params.get("followers", "wait"),
        "type_above": settings.TYPE_NUMBER_ABOVE,
        "may_replay": may(request.user, "replay.start"),
        "problem": problem,
        "wrong": wrong,
    }
    return render_page(request, "dlq/confirm.html", context, title=found.title, status=status)


def handle(request: HtmxHttpRequest, verb: Verb) -> HttpResponse:
    params = request.POST
    confirmed = read_number(params, "count")
    with_followers = params.get("followers") == "along"
    selection = read_selection(
        request, params, watermark=read_number(params, "watermark"), closed=verb.name == "restore"
    )
    if with_followers:
        confirmed += read_number(params, "follower_count")
    replays_followers = params.get("followers") == "replay" and verb.is_closing
    if replays_followers and not may(request.user, "replay.start"):
        raise PermissionDenied("To replay their followers you need the permission replay.start.")
    if not is_typed(params, confirmed):
        return confirm(request, verb, params, untyped=confirmed, status=422)
    try:
        done = handle_letters(
            verb,
            selection,
            confirmed=confirmed,
            actor=request.user,
            request_key=read_request_key(params),
            reason=params.get("reason", "").strip(),
            with_followers=with_followers,
            replays_followers=replays_followers,
        )
    except ReasonMissing as error:
        return confirm(request, verb, params, problem=str(error), wrong="reason", status=409)
    except ConfirmAgain as error:
        return confirm(request, verb, params, again=error, status=409)
    except OperationError as error:
        return confirm(request, verb, params, problem=str(error), status=409)
    if done.run:
        return redirect("runs:run", run_id=done.run.pk)
    messages.success(request, describe(verb, done))
    return redirect(back_url(params))


def describe(verb: Verb, done: Done) -> SafeString:
    """What was done, what was not, and the way back."""
    number = counted(done.count, "letter")
    number = f"Payload of {number}" if verb.name == "erase" else number
    text = markup("{} {}.", number, verb.done)
    if done.moved_count:
        were = agree(done.moved_count, "was", "were")
        text += markup(" {} had moved on meanwhile and {} left alone.", f"{done.moved_count:,}", were)
    if verb.is_closing and done.ids:
        undo = reverse("dlq:confirm_restore") + "?" + urlencode([("id", pk) for pk in done.ids])
        text += markup(' <a href="{}" data-dialog>Undo…</a>', undo)
    return text
