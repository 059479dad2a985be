"""The body of a request, in bounded memory: what it is said to be, and its bytes."""

from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, UnreadablePostError

from sources.push.errors import RefusedError

JSON_TYPES = frozenset({"application/json"})
LINES_TYPES = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})
UTF_8 = frozenset({"", "utf-8", "utf8", "us-ascii"})


def has_lines(request: HttpRequest) -> bool:
    """Whether it is one object a line; refuses what is neither that nor JSON."""
    encoding = request.headers.get("Content-Encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise unsupported(
            f"Content-Encoding is {encoding!r}; send the body as it is.", "Accept-Encoding", "identity"
        )
    kind = (request.content_type or "").lower()
    charset = (request.content_params or {}).get("charset", "").lower()
    if kind not in JSON_TYPES | LINES_TYPES or charset not in UTF_8:
        given = request.headers.get("Content-Type", "")
        raise unsupported(
            f"Content-Type is {given[:100]!r}; it can be application/json, or application/x-ndjson for one object "
            "a line, in UTF-8.",
            "Accept",
            "application/json, application/x-ndjson",
        )
    return kind in LINES_TYPES


def unsupported(sentence: str, name: str, value: str) -> RefusedError:
    return RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, sentence, {name: value})


def read_body(request: HttpRequest) -> bytes:
    """All of it; refuses one that is too large, unread where it says so, or that ended early."""
    most = settings.PUSH_BODY_BYTES
    # Chunks come without a length; a server that ends the stream by itself can be read to its end.
    is_chunked = "chunked" in request.headers.get("Transfer-Encoding", "").lower()
    given = request.META.get("CONTENT_LENGTH") or ""
    length = None if is_chunked else int(given) if given.isascii() and given.isdigit() else 0
    if is_chunked and not request.META.get("wsgi.input_terminated"):
        raise RefusedError(HTTPStatus.LENGTH_REQUIRED, "Send Content-Length, and the body in one piece.")
    if length is not None and length > most:
        raise too_large()
    stream = request.META["wsgi.input"] if is_chunked else request
    try:
        body = bytes(stream.read(most + 1))
    except (UnreadablePostError, OSError):
        raise RefusedError(400, "The body broke off.") from None
    if len(body) > most:
        raise too_large()
    if length is not None and len(body) < length:
        raise RefusedError(400, f"The body ended after {len(body):,} of {length:,} bytes.")
    return body


def too_large() -> RefusedError:
    return RefusedError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The body is larger than {settings.PUSH_BODY_BYTES:,} bytes. Send fewer failures in one request.",
    )
