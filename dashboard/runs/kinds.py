"""What a kind of run must offer, and the registry of kinds."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from dashboard.models import Run
    from dashboard.runs.lanes import Hold


@dataclass(frozen=True)
class Outcome:
    """A way an item can end: its key in the lanes' totals, its word on the page, and its colour's meaning."""

    name: str
    label: str
    tone: str
    # False: nobody knows what came of it, so it is not counted as done.
    is_done: bool = True


@dataclass(frozen=True)
class Step:
    """What a slice says when it ends: there is more, it is done, or not before a given time."""

    is_done: bool = False
    wait_until: datetime | None = None


MORE = Step()
DONE = Step(is_done=True)

# The queue of kinds that name no other.
RUNS_QUEUE = "runs"


@dataclass(frozen=True)
class Rest:
    """What becomes of the items that a run has not come to when it ends: in a word, and in a sentence.

    A kind has one of its own if its beginning touches them all; a run that did not come to begin leaves them untouched.
    """

    label: str = "untouched"
    sentence: str = "What is done stays done, the rest is as it was and can be asked for again."


REST = Rest()


class Kind(Protocol):
    """`work` does one bounded slice of a lane (about a second), recording through `hold.recording()`.

    It may be called again for the same items after a death, so what it does outside the recording
    transaction must bear repetition.
    """

    name: str
    outcomes: tuple[Outcome, ...]

    def work(self, hold: "Hold") -> Step: ...


@dataclass(frozen=True)
class Panel:
    """What a kind adds to its runs' pages: a template, and what it needs to know about the run.

    Of that, the page's headline says `besides` behind the run's title and `afterwards` at its end, and `tone` is the
    colour of the run's state, where the kind knows better.
    """

    template: str
    describe: Callable[["Run"], dict[str, Any]]


_kinds: dict[str, Kind] = {}
_queues: dict[str, str] = {}
_rests: dict[str, Rest] = {}
_panels: dict[str, Panel] = {}


def register(kind: Kind, *, queue: str = RUNS_QUEUE, rest: Rest = REST) -> None:
    """Kinds of different queues have different workers, so that a crowd of one does not starve the other."""
    _kinds[kind.name] = kind
    _queues[kind.name] = queue
    _rests[kind.name] = rest


def get_kind(name: str) -> Kind:
    return _kinds[name]


def find_kind(name: str) -> Kind | None:
    """None if the code that made the run is no longer installed."""
    return _kinds.get(name)


def get_queue(kind: str) -> str:
    return _queues.get(kind, RUNS_QUEUE)


def get_rest(kind: str) -> Rest:
    return _rests.get(kind, REST)


def list_queues() -> dict[str, list[str]]:
    """The kinds of each queue."""
    found: dict[str, list[str]] = {}
    for kind, queue in _queues.items():
        found.setdefault(queue, []).append(kind)
    return found


def add_panel(kind: str, panel: Panel) -> None:
    _panels[kind] = panel


def find_panel(kind: str) -> Panel | None:
    """None: the page shows what all runs have."""
    return _panels.get(kind)
