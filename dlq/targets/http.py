"""A target that takes events over HTTP: one configured address, bounded in time, behind a breaker, no redirects."""

import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, quote, urlsplit

from django.utils import timezone

from breakers.api import Breaker, find_obstacles, get_breaker, get_profile
from dlq.targets.base import Answer, Delivery, Health, TargetError
from projections.api import HandlerTimeoutError

# What an answer may say about why; the rest of it is not read.
MOST_READ = 2_000
# Nobody is waited for longer than this, whatever they ask for.
MOST_RETRY_AFTER_SECONDS = 3600.0
METHODS = ("POST", "PUT")
# The server is in trouble, or too busy; anything else in 4xx is about the event.
TRANSIENT_STATUSES = frozenset({408, 425, 429})

SAFE_IN_HEADER = "".join(chr(code) for code in range(0x20, 0x7F)).replace("%", "")


class HttpTroubleError(TargetError):
    """The server failed, or could not be reached: this counts for the breaker."""


@dataclass(frozen=True)
class HttpTarget:
    """2xx is done, 4xx permanent, 5xx and silence transient; a redirect is an answer that we do not follow."""

    name: str
    url: str
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret: str = field(default="", repr=False)
    secret_header: str = "Authorization"  # noqa: S105
    timeout_seconds: float = 10.0
    dedup_seconds: int = 300
    breaker_profile: str = "default"
    kind: str = "http"

    def __post_init__(self) -> None:
        """A ValueError with a sentence, which repeats nothing that may be secret."""
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("the url must begin with http:// or https:// and name a host.")
        if parts.username is not None:
            raise ValueError("the url holds a user or a password; write them as a header, with secret.")
        if not has_port(parts):
            raise ValueError("the port of the url is no number from 0 to 65535.")
        if not is_plain(f"{parts.netloc}{parts.path}{parts.query}"):
            raise ValueError(
                "the url can hold nothing but printable ASCII without spaces; percent-encode the rest."
            )
        if self.method not in METHODS:
            raise ValueError(f"the method is {self.method!r}; write {' or '.join(METHODS)}.")
        for name, value in {**self.headers, self.secret_header: self.secret}.items():
            if not (is_printable(name) and is_printable(value)):
                raise ValueError(f"the header {name!r} can hold nothing but printable ASCII.")
        get_profile(self.breaker_profile)

    @property
    def breaker(self) -> Breaker:
        return get_breaker(
            self.name, self.breaker_profile, counts=HttpTroubleError, used_by=f"replay to {self.name}"
        )

    def deliver(self, delivery: Delivery) -> Answer:
        with self.breaker.call():
            status, retry_after, text = self._send(delivery)
            self._judge(status, retry_after, text)
        return Answer.DONE

    def _send(self, delivery: Delivery) -> tuple[int, str, str]:
        parts = urlsplit(self.url)
        connection = self._connect()
        try:
            connection.connect()
            delivery.check_time()
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            connection.request(self.method, path, delivery.body, self._headers(delivery))
            response = connection.getresponse()
            text = response.read(MOST_READ).decode(errors="replace")
            return response.status, response.getheader("Retry-After", ""), text
        except (OSError, http.client.HTTPException) as error:
            trouble = f"{self.name} did not answer: {type(error).__name__} {error}".strip()
            raise HttpTroubleError(trouble, permanent=False) from error
        except HandlerTimeoutError as error:
            # Whoever sends sees to the time; for the breaker this is no interruption, but a server that hangs.
            trouble = f"{self.name} took longer than {self.timeout_seconds:g} s."
            raise HttpTroubleError(trouble, permanent=False) from error
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        if parts.scheme == "https":
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(parts.netloc, timeout=self.timeout_seconds, context=context)
        return http.client.HTTPConnection(parts.netloc, timeout=self.timeout_seconds)

    def _headers(self, delivery: Delivery) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": delivery.idempotency_key,
            "Redrive-Event-Id": as_header(delivery.event_id),
            "Redrive-Event-Type": as_header(delivery.event_type),
            "Redrive-Consumer": as_header(delivery.consumer),
            **self.headers,
        }
        return headers | ({self.secret_header: self.secret} if self.secret else {})

    def _judge(self, status: int, retry_after: str, text: str) -> None:
        if 200 <= status < 300:
            return
        said = f"{self.name} answered {status}" + (f": {text.strip()[:200]}" if text.strip() else "")
        if status >= 500 or status in TRANSIENT_STATUSES:
            raise HttpTroubleError(said, permanent=False, retry_after=read_retry_after(retry_after))
        raise TargetError(said, permanent=True)

    def get_health(self) -> Health:
        goes = f"Goes to {self.name}: {self.method} {self.url}, behind the breaker {self.name}."
        found = find_obstacles([self.name])
        if found is None:
            return Health(False, f"{goes} Redis does not answer, so the breaker's state is not known.")
        return Health(not found, " ".join([goes, *(one.sentence for one in found)]))


def is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()


def is_plain(text: str) -> bool:
    return is_printable(text) and " " not in text


def has_port(parts: SplitResult) -> bool:
    """Whether the port can be read; none at all is that of the scheme."""
    try:
        return parts.port is None or parts.port >= 0
    except ValueError:
        return False


def as_header(text: str) -> str:
    """Names come from anywhere, and a header holds printable ASCII: all else, and the sign, is percent-encoded."""
    return quote(text, safe=SAFE_IN_HEADER)


def read_retry_after(value: str) -> float | None:
    """Seconds, from a number or a date; None: nothing that can be read."""
    if value.isascii() and value.isdigit():
        return min(float(value), MOST_RETRY_AFTER_SECONDS)
    try:
        wait = (parsedate_to_datetime(value) - timezone.now()).total_seconds()
    except (ValueError, TypeError):
        return None
    return min(max(wait, 0.0), MOST_RETRY_AFTER_SECONDS)
