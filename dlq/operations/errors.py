class OperationError(Exception):
    """Nothing was changed; the message says why."""


class ConfirmAgain(OperationError):
    """What was confirmed is not what there is now."""

    def __init__(self, confirmed: int, now: int, what: str = "letter") -> None:
        were, there_are = "s were" if confirmed != 1 else " was", "there are" if now != 1 else "there is"
        super().__init__(
            f"{confirmed:,} {what}{were} confirmed, and now {there_are} {now:,}. Nothing was changed."
        )
        self.confirmed = confirmed
        self.now = now


class ReasonMissing(OperationError):
    """This must not be done without a reason; the sentence says for whose sake."""
