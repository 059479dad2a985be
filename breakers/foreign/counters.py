"""pybreaker and aiobreaker keep the same keys under different names: `<namespace>:<library>:state`, and counters."""

from dataclasses import dataclass
from datetime import UTC, datetime

from breakers.foreign.reader import Client, Found
from breakers.models import State

NO_NAMESPACE = "(no namespace)"
NOTE = (
    "By the keys of {library} in Redis. It does not keep its pause or threshold there, so the time of the next try is"
    " unknown here."
)


@dataclass(frozen=True)
class CounterReader:
    """A library that keeps state, counters and `opened_at` as plain strings."""

    source: str
    states: dict[str, State]
    counters: tuple[str, ...]

    @property
    def pattern(self) -> str:
        return f"*{self.source}:state"

    @property
    def note(self) -> str:
        return NOTE.format(library=self.source)

    @property
    def lasts(self) -> str:
        return f"until {self.source} tries again"

    @property
    def why_no_trip(self) -> str:
        return f"{self.source} would close it again by itself."

    @property
    def reset_effect(self) -> str:
        return f"Its state and its counters in Redis are set as {self.source} itself would set them."

    def read(self, client: Client, keys: list[str]) -> list[Found]:
        names = [self._name(key) for key in keys]
        wanted = [self._key(name, part) for name in names for part in ("state", "fail_counter", "opened_at")]
        values = client.mget(wanted) if wanted else []
        found = []
        for number, name in enumerate(names):
            word, failures, opened = values[number * 3 : number * 3 + 3]
            state = self.states.get(word)
            if state:
                # It stays behind when the breaker closes, and then means nothing.
                opened_at = to_time(opened) if state != State.CLOSED else None
                found.append(Found(name, state, to_number(failures), opened_at))
        return found

    def reset(self, client: Client, name: str) -> bool:
        closed = next(word for word, state in self.states.items() if state == State.CLOSED)
        key = self._key(name, "state")
        if client.get(key) in (None, closed):
            return False
        client.mset({key: closed} | {self._key(name, counter): 0 for counter in self.counters})
        return True

    def _key(self, name: str, part: str) -> str:
        return f"{'' if name == NO_NAMESPACE else f'{name}:'}{self.source}:{part}"

    def _name(self, key: str) -> str:
        return key.removesuffix(f"{self.source}:state").removesuffix(":") or NO_NAMESPACE


def to_number(text: str | None) -> int | None:
    """None if somebody else has written something else there."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 11 else None


def to_time(epoch_seconds: str | None) -> datetime | None:
    seconds = to_number(epoch_seconds)
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


PYBREAKER = CounterReader(
    "pybreaker",
    {"closed": State.CLOSED, "half-open": State.HALF_OPEN, "open": State.OPEN},
    ("fail_counter", "success_counter"),
)
AIOBREAKER = CounterReader(
    "aiobreaker",
    {"CLOSED": State.CLOSED, "HALF_OPEN": State.HALF_OPEN, "OPEN": State.OPEN},
    ("fail_counter",),
)
