"""Edit and replay: the event as it came, a replacement with its diff, and then the same preview as ever."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page
from dlq import queries
from dlq.masking import Masker
from dlq.models import DeadLetter
from dlq.operations.edits import replace_payload
from dlq.operations.errors import OperationError, ReasonMissing
from dlq.queries.edit import diff, find_payload, find_replacement, hides_values, read_payload, write_json

# The editor is as high as what stands in it, within reason.
FEWEST_ROWS, MOST_ROWS = 8, 30


@require_safe
@needs("letter.edit")
def edit(request: HtmxHttpRequest, letter_id: int) -> HttpResponse:
    letter = get_editable(request, letter_id)
    replacement = find_replacement(letter)
    original = find_payload(letter)
    if replacement or original is not None:
        return show(request, letter, write_json(replacement.payload if replacement else original))
    return show(request, letter, "")


@require_POST
@needs("letter.edit")
def compare(request: HtmxHttpRequest, letter_id: int) -> HttpResponse:
    """Say what the replacement changes, before anything is saved."""
    letter = get_editable(request, letter_id)
    text = request.POST.get("payload", "")
    try:
        payload = read_payload(text)
    except ValueError as error:
        return show(request, letter, text, problem=str(error), wrong="payload", status=422)
    replacement, changes = find_replacement(letter), diff(find_payload(letter), payload)
    takes_back = replacement is not None and not changes
    if replacement and write_json(replacement.payload) == write_json(payload):
        changes = []
    return show(request, letter, text, changes=changes, is_compared=True, takes_back=takes_back)


@require_POST
@needs("letter.edit")
def save(request: HtmxHttpRequest, letter_id: int) -> HttpResponse:
    letter = get_editable(request, letter_id)
    text, reason = request.POST.get("payload", ""), request.POST.get("reason", "").strip()
    try:
        is_replaced = replace_payload(letter, read_payload(text), actor=request.user, reason=reason)
    except ValueError as error:
        return show(request, letter, text, problem=str(error), wrong="payload", status=422)
    except ReasonMissing as error:
        return show(request, letter, text, problem=str(error), wrong="reason", status=409)
    except OperationError as error:
        return show(request, letter, text, problem=str(error), status=409)
    done = (
        "The replacement is on record; the original is kept."
        if is_replaced
        else "The replacement is taken back."
    )
    messages.success(request, f"{done} Now replay the letter.")
    return redirect(f"{reverse('dlq:confirm_replay')}?scope=letter&id={letter.pk}")


def get_editable(request: HtmxHttpRequest, letter_id: int) -> DeadLetter:
    """The letter; refused to whoever may not see all that the original says, or what is in its place."""
    letter, masker = queries.get_letter(letter_id).letter, Masker(request.user)
    replacement = find_replacement(letter)
    if hides_values(find_payload(letter), masker) or (
        replacement and hides_values(replacement.payload, masker)
    ):
        raise PermissionDenied("This payload holds masked values; to edit it you must be allowed to unmask.")
    return letter


def show(
    request: HtmxHttpRequest,
    letter: DeadLetter,
    text: str,
    *,
    changes: list[tuple[str, str]] | None = None,
    is_compared: bool = False,
    takes_back: bool = False,
    problem: str = "",
    wrong: str = "",
    status: int = 200,
) -> HttpResponse:
    replacement = find_replacement(letter)
    context = {
        "letter": letter,
        "text": text,
        "rows": min(max(text.count("\n") + 3, FEWEST_ROWS), MOST_ROWS),
        "reason": request.POST.get("reason", ""),
        "changes": changes,
        "is_compared": is_compared,
        "takes_back": takes_back,
        "is_unreadable": not replacement and find_payload(letter) is None,
        "replacement": replacement,
        "problem": problem,
        "wrong": wrong,
    }
    return render_page(request, "dlq/edit.html", context, title=f"Edit letter {letter.pk}", status=status)
