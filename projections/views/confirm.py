import re
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

from dashboard.pages import HtmxHttpRequest, render_page

LONGEST_REASON = 500
# Browsers take a pattern whose other characters are escaped for a wrong one, and check nothing.
SYNTAX = re.compile(r"[\^$\\.*+?()\[\]{}|/]")


@dataclass(frozen=True)
class Confirmation:
    """A question, what follows from a yes, and the form that says yes."""

    question: str
    sentences: list[str]
    action: str
    button: str
    back: str
    tone: str = "primary"
    # To be typed by hand; empty: nothing is.
    typed: str = ""
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def typed_pattern(self) -> str:
        """What browsers accept, so that a slip of the hand does not cost the reason; spaces around it are no matter."""
        return r"\s*" + SYNTAX.sub(r"\\\g<0>", self.typed) + r"\s*"


def ask(request: HtmxHttpRequest, confirmation: Confirmation, **context: Any) -> HttpResponse:
    """The confirmation as a page, which is a dialog where that can be; its key makes a double click one run."""
    context |= {"confirmation": confirmation, "request_key": uuid4(), "longest_reason": LONGEST_REASON}
    return render_page(request, "projections/confirm.html", context, title=confirmation.question)


def get_reason(request: HttpRequest) -> str:
    """The reason that came with the confirmation: every verb that is confirmed needs one."""
    reason = request.POST.get("reason", "").strip()
    if not reason:
        raise BadRequest("reason is missing; say why, it goes on record.")
    if len(reason) > LONGEST_REASON:
        raise BadRequest(f"reason has {len(reason):,} characters; it can have {LONGEST_REASON}.")
    return reason
