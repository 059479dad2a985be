from sources.models.token import Token

__all__ = ["Token"]
