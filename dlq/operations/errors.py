class OperationError(Exception):
    """Nothing was changed; the message says why."""


class ConfirmAgain(OperationError):
    """What was confirmed is not what there is now."""

    def __init__(self, confirmed: int, now: int, what: str = "letters") -> None:
        super().__init__(
            f"{confirmed:,} {what} were confirmed, and now there are {now:,}. Nothing was changed."
        )
        self.confirmed = confirmed
        self.now = now


class ReasonMissing(OperationError):
    """This must not be done without a reason."""

    def __init__(self) -> None:
        super().__init__(
            "Give a reason: letters are discarded or erased, or their consumer is marked critical."
        )
