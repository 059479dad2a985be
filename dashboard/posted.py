"""What the console's own forms and links carry besides what people write; anything else there is a damaged request."""

from uuid import UUID

from django.core.exceptions import BadRequest
from django.http import QueryDict

# As many digits as any id or position has; more of them, and the database would refuse the question.
MOST_DIGITS = 18


def read_number(params: QueryDict, name: str) -> int:
    text = params.get(name, "")
    if not text.isascii() or not text.isdigit() or len(text) > MOST_DIGITS:
        raise BadRequest(f"{name} is {quote(text)}; it can be a whole number from 0 on.")
    return int(text)


def quote(text: str) -> str:
    """What was given, as the sentence that refuses it says it."""
    return repr(text[:40]) if text else "empty"


def read_request_key(params: QueryDict) -> UUID:
    """The key that came with the confirmation, which makes a double click one run."""
    try:
        return UUID(params.get("request_key", ""))
    except ValueError:
        raise BadRequest("request_key is missing or damaged; go back and confirm again.") from None
