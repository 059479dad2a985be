"""What needs a person, worst first. Sections add theirs with `register`; every page shows the number."""

from collections.abc import Callable, Iterable, Mapping
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
_finders: list[tuple[int, Finder]] = []
_SEVERITY = {"bad": 0, "warn": 1}


def register(finder: Finder, *, rank: int = 5) -> None:
    """Add a function that is called on every page, so it must be cheap: a query or two, both bounded.

    Of things that are equally bad those with the lower rank come first: 0 stops everything, 9 can wait longest.
    """
    _finders.append((rank, finder))


def list_attention(instead: Mapping[Finder, Finder] | None = None) -> list[Need]:
    """`instead` has what a page that has just looked itself calls in the place of a finder."""
    chosen = [(rank, (instead or {}).get(finder, finder)) for rank, finder in _finders]
    needs = [(_SEVERITY[need.tone], rank, need) for rank, find in chosen for need in find()]
    return [need for _, _, need in sorted(needs, key=lambda found: found[:2])]
