"""Where consumers call back; they have no session, but the token that came with the delivery."""

import json
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, JsonResponse, RawPostDataException
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from dlq.cleaning import clean_text
from dlq.models import LetterRunItem
from dlq.operations.deliveries import AlreadyConfirmed
from dlq.operations.deliveries import confirm_delivery as keep
from dlq.targets import Refusal
from dlq.targets.callbacks import is_token

# A stack trace is what is long in it.
MOST_BYTES = 100_000
SHAPE = 'Send {"outcome": "succeeded"}, or {"outcome": "failed", "error_type": "…", "error_message": "…"}.'


class BadConfirmation(Exception):
    """The body makes no sense; the sentence says what does."""


@csrf_exempt
@require_POST
@login_not_required
def confirm_delivery(request: HttpRequest, item_id: int) -> JsonResponse:
    """`Authorization: Bearer TOKEN` and a JSON body; the same twice has the same answer."""
    token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    if not is_token(item_id, token):
        return answer(403, "The token is not that of this delivery; send it as Authorization: Bearer …")
    item = LetterRunItem.objects.filter(pk=item_id).first()
    if item is None:
        return answer(404, "There is no such delivery any more.")
    try:
        kept = keep(item, read_refusal(request))
    except BadConfirmation as error:
        return answer(422, str(error))
    except AlreadyConfirmed as error:
        return answer(409, str(error))
    return JsonResponse({"delivery": item_id, "outcome": kept.outcome})


def read_refusal(request: HttpRequest) -> Refusal | None:
    """None: it succeeded."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
        raise BadConfirmation(f"The body is longer than {MOST_BYTES:,} bytes.")
    try:
        said: Any = json.loads(request.body)
    except (ValueError, RecursionError, RawPostDataException):
        # A form with files, too, is no document.
        said = None
    outcome = said.get("outcome") if isinstance(said, dict) else None
    if outcome not in ("succeeded", "failed"):
        raise BadConfirmation(f"outcome is {outcome!r}. {SHAPE}")
    texts = {name: said.get(name, "") for name in ("error_type", "error_message", "stacktrace")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise BadConfirmation(f"error_type, error_message and stacktrace are text. {SHAPE}")
    # Whoever cuts a text may leave half a character, and what failed is told all the same.
    cleaned = {name: clean_text(text) for name, text in texts.items()}
    return Refusal(**cleaned) if outcome == "failed" else None


def answer(status: int, sentence: str) -> JsonResponse:
    return JsonResponse({"error": sentence}, status=status)
