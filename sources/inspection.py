"""An inspection as it is kept: pages and buttons ask here what a source offers, and never the source itself."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from sources.base import Capabilities, Inspection
from sources.models import SourceState


@dataclass(frozen=True)
class Kept:
    """What the last inspection found; `why_not` has a sentence for everything that cannot be done."""

    why_not: dict[str, str]
    recognised: list[str]
    role: list[str]

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Self | None:
        """None: nobody has looked yet."""
        return cls(kept["why_not"], kept["recognised"], kept["role"]) if kept else None


def as_dict(inspection: Inspection) -> dict[str, Any]:
    names = [field.name for field in fields(Capabilities)]
    why_not = {name: getattr(inspection.capabilities, name).why_not for name in names}
    return asdict(Kept(why_not, inspection.recognised, inspection.role))


def find_why_not(source: str, ability: str) -> str:
    """Why a source does not offer this, as its last inspection found; empty: it does."""
    kept = Kept.of(SourceState.objects.filter(name=source).values_list("inspection", flat=True).first() or {})
    return kept.why_not[ability] if kept else f"{source} has not been looked at yet."
