"""How a view answers: its template in the shell, or to htmx the template alone with what the shell shows live."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


class HtmxHttpRequest(HttpRequest):
    htmx: HtmxDetails


def render_page(
    request: HtmxHttpRequest,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    title: str,
    status: int = 200,
) -> HttpResponse:
    """One template a page; `title` stands in the browser's tab, and `live_url` in the context makes the page live."""
    wants_part = request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request
    context = {**(context or {}), "template": template, "title": title}
    response = render(request, "part.html" if wants_part else "page.html", context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


@contextmanager
def saying_refusal(request: HttpRequest, refusal: type[Exception]) -> Iterator[None]:
    """What an operation refuses is said on the page that comes next."""
    try:
        yield
    except refusal as error:
        messages.warning(request, str(error))
