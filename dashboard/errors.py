"""The pages for what went wrong, each with its status and one sentence; they need no database."""

import sys
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.defaultfilters import filesizeformat
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from psycopg.errors import DeadlockDetected, QueryCanceled

# The sections' lists, the longest address first: under one of them something is gone or wrong, and the list is next.
LISTS = {
    "dlq:rules": "To the classification rules",
    "dlq:letters": "To the letters",
    "dlq:groups": "To the dead letters",
    "runs:runs": "To the runs",
    "projections:projections": "To the projections",
    "breakers:breakers": "To the breakers",
    "sources:sources": "To the sources",
    "audit": "To the audit trail",
}


def error_page(request: HttpRequest, status: int, headline: str, sentence: str) -> HttpResponse:
    """Rendered without a request context: its processors would ask the database, which may be what is gone."""
    if request.path.startswith("/api/"):
        return JsonResponse({"error": f"{headline}. {sentence}"}, status=status)
    lists = [(reverse(name), label) for name, label in LISTS.items()]
    context = {
        "status": status,
        "lists": [one for one in lists if request.path.startswith(one[0])][:1],
        "headline": headline,
        "sentence": sentence,
        "environment_name": settings.ENVIRONMENT_NAME,
        "environment_colour": settings.ENVIRONMENT_COLOUR,
    }
    return HttpResponse(render_to_string("error.html", context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig):
        most = filesizeformat(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        return error_page(request, 413, "That is too large", f"Nothing was changed. A form can hold {most}.")
    sentence = str(exception)
    if request.method == "POST":
        # Views read what was sent before they do anything with it.
        sentence = f"Nothing was changed: {sentence[:1].lower()}{sentence[1:]}"
    return error_page(request, 400, "That request makes no sense here", sentence)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    reason = f"Nothing was changed. {exception} Ask an admin of this console."
    return error_page(request, 403, "You may not do that", reason)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(
        request,
        404,
        "There is nothing at this address",
        "It may have been removed, or the link is incomplete.",
    )


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    return error_page(
        request,
        403,
        "The form was too old to be accepted",
        "Nothing was changed. Go back, reload the page and send it again. If this keeps happening, your browser "
        "refuses this site's cookies.",
    )


def method_not_allowed(request: HttpRequest) -> HttpResponse:
    return error_page(
        request,
        405,
        "This address is not a page",
        "It belongs to a button, and opening it changed nothing. Go back and press the button.",
    )


def server_error(request: HttpRequest, *args: Any) -> HttpResponse:
    error = sys.exc_info()[1]
    if isinstance(error, OperationalError) and isinstance(error.__cause__, DeadlockDetected):
        return gave_way(request)
    if isinstance(error, OperationalError | InterfaceError):
        return unavailable(request, is_slow=isinstance(error.__cause__, QueryCanceled))
    return error_page(
        request,
        500,
        "The console made a mistake",
        f"What you asked for may not have been done. The log says more, at {timezone.now():%Y-%m-%d %H:%M:%S} UTC.",
    )


def gave_way(request: HttpRequest) -> HttpResponse:
    """Two changed the same rows crosswise, and Postgres has undone what one of them did."""
    return error_page(
        request,
        409,
        "Somebody else was faster",
        "They changed the same rows at this moment, and one of the two had to give way. Nothing was changed. "
        "Send it again.",
    )


def unavailable(request: HttpRequest, *, is_slow: bool) -> HttpResponse:
    """Postgres is away, or takes longer than a page may wait."""
    headline = "Postgres takes too long" if is_slow else "Postgres does not answer"
    sentence = (
        "The console's own database is overloaded or locked. Narrow the filter, or try again in a moment."
        if is_slow
        else "The console's own database is away. Runs and consumers stop where they are and lose nothing; "
        "this page works again as soon as the database does."
    )
    response = error_page(request, 503, headline, sentence)
    response["Retry-After"] = "10"
    return response
