from sources.models.row import ForeignRow, MovedRow, OwedWrite
from sources.models.state import SourceState
from sources.models.token import Token

__all__ = ["ForeignRow", "MovedRow", "OwedWrite", "SourceState", "Token"]
