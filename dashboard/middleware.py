from collections.abc import Callable
from urllib.parse import urlsplit

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode

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


class LoginRequired(LoginRequiredMiddleware):
    """Every page needs a session; a live region whose session has ended sends the whole page to the login."""

    def handle_no_permission(  # type: ignore[override]
        self, request: HttpRequest, view_func: Callable[..., HttpResponseBase]
    ) -> HttpResponseBase:
        if not request.htmx:  # type: ignore[attr-defined]
            return super().handle_no_permission(request, view_func)
        current = urlsplit(request.headers.get("HX-Current-URL", "/"))
        page = current.path + (f"?{current.query}" if current.query else "")
        login = f"{reverse('login')}?{urlencode({'next': page})}"
        return HttpResponse(status=401, headers={"HX-Redirect": login})
