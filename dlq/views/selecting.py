"""Reading what a confirmation was about: the selection, and whether its number was typed."""

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse

from dashboard.posted import read_number
from dlq.filters import LetterFilter
from dlq.models import FailureGroup
from dlq.operations import find_replay, select_failed
from dlq.operations.errors import ConfirmAgain
from dlq.selection import Selection, SelectionError, select_group, select_ids, select_matching

# What the confirmation adds to the selection when it posts it back.
FORM_FIELDS = {"csrfmiddlewaretoken", "count", "followers", "reason", "typed", "request_key", "watermark"}


def read_selection(
    request: HttpRequest, params: QueryDict, *, watermark: int | None, closed: bool = False
) -> Selection:
    """The ticked rows, a whole group, what failed in a run, or all that match the filter in the parameters."""
    try:
        if params.get("scope") == "group":
            group = get_object_or_404(FailureGroup, pk=read_number(params, "group"))
            return select_group(group, watermark, closed=closed)
        if params.get("scope") == "run":
            run = find_replay(read_number(params, "run"))
            if run is None:
                raise Http404("There is no such replay.")
            return select_failed(run, watermark)
        if params.get("scope") == "matching":
            form = LetterFilter(params, user=request.user)
            if not form.is_valid():
                raise BadRequest(f"The filter is wrong. {form.problem}")
            return select_matching(form, watermark)
        ids = [int(pk) for pk in params.getlist("id") if pk.isascii() and pk.isdigit() and len(pk) <= 18]
        return select_ids(ids, watermark)
    except SelectionError as error:
        raise BadRequest(str(error)) from None


def back_url(params: QueryDict) -> str:
    """Where the selection was made: a letter's page, a group's, a run's, or the list with its filter."""
    if params.get("scope") == "group":
        return reverse("dlq:group", args=[read_number(params, "group")])
    if params.get("scope") == "run":
        return reverse("runs:run", args=[read_number(params, "run")])
    if params.get("scope") == "letter":
        return reverse("dlq:letter", args=[read_number(params, "id")])
    kept = params.copy()
    for name in FORM_FIELDS | {"scope", "id", "follower_count"}:
        kept.pop(name, None)
    return reverse("dlq:letters") + (f"?{kept.urlencode()}" if kept else "")


def is_typed(params: QueryDict, number: int) -> bool:
    """Whether a number that is large enough to be typed was typed."""
    typed = params.get("typed", "").replace(",", "").strip()
    return number <= settings.TYPE_NUMBER_ABOVE or typed == str(number)


def refuse_untyped(deed: str, confirmed: int, now: int, what: str = "letter") -> tuple[str, str]:
    """What to say where the number was not typed, and at which field; another number by now is about the whole."""
    if now != confirmed:
        return str(ConfirmAgain(confirmed, now, what)), ""
    return f"To {deed}, type that number.", "typed"
