from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from dashboard import errors
from dashboard.addresses import remember_address

# No inline script or style, no eval, no other origin: hostile text that slips through somewhere still cannot run.
CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
PERMISSIONS_POLICY = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def security_headers(get_response: GetResponse) -> GetResponse:
    """Set what SecurityMiddleware does not, on every answer, errors included; remember the client's address."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        remember_address(request)
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        if not request.path.startswith("/static/"):
            # What an operator saw must not come out of a shared browser's cache.
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    return middleware


def refuse_nonsense(get_response: GetResponse) -> GetResponse:
    """Refuse text that Postgres cannot hold before any view meets it; give an empty 405 a page."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        # Programs send documents there and no forms; the view reads the body itself, and knows what it can hold.
        if request.path.startswith("/api/"):
            return get_response(request)
        fields = [name for data in (request.GET, request.POST) for name in find_nul(data)]
        if fields:
            # What comes from no form of ours may have a name of any length.
            sentence = f"The field {fields[0][:60]!r} holds a NUL character, which no text here can have."
            return errors.bad_request(request, BadRequest(sentence))
        response = get_response(request)
        if response.status_code == 405 and request.method == "GET":
            page = errors.method_not_allowed(request)
            page["Allow"] = response["Allow"]
            return page
        return response

    return middleware


def find_nul(data: QueryDict) -> Iterator[str]:
    """The fields that hold a NUL character, or have one in their name."""
    for name, values in data.lists():
        if any("\0" in text for text in (name, *values) if isinstance(text, str)):
            yield name


class LoginRequired(LoginRequiredMiddleware):
    """Every page needs a session; whoever has lost it comes back after the login to the page they were on."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase], *args: Any
    ) -> HttpResponseBase | None:
        # Before Django asks who it is: /healthz must not need the database, whatever cookie came along.
        if not getattr(view_func, "login_required", True):
            return None
        return super().process_view(request, view_func, *args)

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if request.method in ("GET", "HEAD") and not request.htmx:  # type: ignore[attr-defined]
            return super().handle_no_permission(request, view_func)
        came_from = request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
        login = f"{reverse('login')}?{urlencode({'next': own_path(request, came_from)})}"
        if request.htmx:  # type: ignore[attr-defined]
            return HttpResponse(status=401, headers={"HX-Redirect": login})
        # A button that was pressed too late: going back to its address would look as if it had worked.
        return HttpResponseRedirect(f"{login}&nothing=changed")


def own_path(request: HttpRequest, url: str) -> str:
    """The path of a page of ours; the overview for any other address."""
    if not url_has_allowed_host_and_scheme(url, {request.get_host()}):
        return "/"
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")
