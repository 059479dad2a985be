from sources.models.row import ForeignRow, MovedRow, OwedWrite
from sources.models.state import SourceState

__all__ = ["ForeignRow", "MovedRow", "OwedWrite", "SourceState"]
