"""What everybody must know wherever they are, such as a switch that is on; sections add theirs with `register`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Banner:
    """A sentence on every page, and for who may do `action` a link to end it; no link: it ends by itself."""

    sentence: str
    url: str = ""
    link: str = ""
    action: str = ""


Finder = Callable[[], Iterable[Banner]]
_finders: list[Finder] = []


def register(finder: Finder) -> None:
    """Add a function that is called on every page, so it must be cheap."""
    _finders.append(finder)


def list_banners() -> list[Banner]:
    return [banner for finder in _finders for banner in finder()]
