"""The pages for what went wrong, each with its status and one sentence; they need no database."""

import sys
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string


def error_page(request: HttpRequest, status: int, headline: str, sentence: str) -> HttpResponse:
    """Rendered without a request context: its processors would ask the database, which may be what is gone."""
    html = render_to_string("error.html", {"status": status, "headline": headline, "sentence": sentence})
    return HttpResponse(html, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_page(request, 400, "That request makes no sense here", str(exception))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    reason = f"It needs a permission that your role does not have: {exception}" if str(exception) else ""
    return error_page(request, 403, "You may not do that", reason or "Ask an administrator of this console.")


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


def server_error(request: HttpRequest, *args: Any) -> HttpResponse:
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        response = error_page(
            request,
            503,
            "Postgres does not answer",
            "The console's own database is away. Runs and consumers stop where they are and lose nothing; "
            "this page works again as soon as the database does.",
        )
        response["Retry-After"] = "10"
        return response
    return error_page(
        request,
        500,
        "The console made a mistake",
        "It is in the log with the time of this request. Nothing else is affected.",
    )
