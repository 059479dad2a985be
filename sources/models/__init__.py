from sources.models.row import ForeignRow, MovedRow, OwedRelease, OwedWrite
from sources.models.state import SourceState
from sources.models.token import Token

__all__ = ["ForeignRow", "MovedRow", "OwedRelease", "OwedWrite", "SourceState", "Token"]
