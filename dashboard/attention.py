"""What needs a person, worst first. Sections add theirs with `register`; every page shows the number."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Need:
    """One thing that needs a person: what, how bad, and the next step as a link."""

    headline: str
    sentence: str
    url: str
    link: str
    tone: str = "bad"
    # A store that does not answer: every page says so, since its figures may be missing there.
    is_away: bool = False


Finder = Callable[[], Iterable[Need]]
_finders: list[Finder] = []
_SEVERITY = {"bad": 0, "warn": 1}


def register(finder: Finder) -> None:
    """Add a function that is called on every page, so it must be cheap: a query or two, both bounded."""
    _finders.append(finder)


def list_attention() -> list[Need]:
    needs = [need for finder in _finders for need in finder()]
    return sorted(needs, key=lambda need: _SEVERITY[need.tone])
