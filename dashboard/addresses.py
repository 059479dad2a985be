"""The address a request came from, remembered for the length of the request."""

import re
from contextvars import ContextVar
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest

# As some proxies name a client: 192.0.2.7:50123, [2001:db8::7]:50123, [2001:db8::7].
WITH_PORT = re.compile(r"\[([^]]+)](?::\d+)?|([\d.]+):\d+")

_current: ContextVar[str | None] = ContextVar("client_address", default=None)


def current_address() -> str | None:
    """The client's address; None where the code does not run for an HTTP request."""
    return _current.get()


def remember_address(request: HttpRequest) -> str | None:
    address = client_address(request)
    _current.set(address)
    return address


def client_address(request: HttpRequest) -> str | None:
    """The peer, or behind a trusted proxy the last hop it names; None if neither is an address."""
    candidate = request.META.get("REMOTE_ADDR", "")
    if settings.TRUST_PROXY:
        # Only the last hop was written by our proxy; whatever stands before it the client may have invented.
        candidate = request.META.get("HTTP_X_FORWARDED_FOR", candidate).rpartition(",")[2].strip()
    if named := WITH_PORT.fullmatch(candidate):
        candidate = named[1] or named[2]
    try:
        # Without a zone (fe80::1%eth0), which Postgres does not take.
        return str(ip_address(candidate.partition("%")[0]))
    except ValueError:
        return None


def is_loopback(request: HttpRequest) -> bool:
    """True if the peer itself, not a proxy's word for it, is on this machine."""
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
