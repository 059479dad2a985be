"""The one error of this package."""


class EmbeddedError(Exception):
    """Redrive cannot start or go on; the message is for the person at the terminal and says what to do."""
