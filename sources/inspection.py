"""An inspection as it is kept: pages and buttons ask here what a source offers, and never the source itself."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from dashboard.memo import Memo
from sources.base import Capabilities, Inspection, Visit
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


def why_nothing(kept: dict[str, Any], visit: Visit) -> str:
    """Why a source is not looked at any further; what it has none of by its nature is not what it is looked at for."""
    return str(kept["why_not"]["reads_letters" if visit.letters else "reads_checkpoints"])


def why_not(source: str, capability: str) -> str:
    """Why this cannot be done with a source, as last seen; empty: it can."""
    return find_kept().get(source, {}).get(capability, "")


def read_kept() -> dict[str, dict[str, str]]:
    rows = SourceState.objects.exclude(inspection={}).values_list("name", "inspection")
    return {name: inspection["why_not"] for name, inspection in rows}


# Every page that shows letters asks.
find_kept = Memo(read_kept, seconds=2)


def list_read_only() -> dict[str, str]:
    """The sources to which nothing can be written back, and why."""
    return {name: found["writes_status"] for name, found in find_kept().items() if found["writes_status"]}
