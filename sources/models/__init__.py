from sources.models.state import SourceState

__all__ = ["SourceState"]
