from dashboard.words import agree, counted


class OperationError(Exception):
    """Nothing was changed; the message says why."""


class ConfirmAgain(OperationError):
    """What was confirmed is not what there is now."""

    def __init__(self, confirmed: int, now: int, what: str = "letter") -> None:
        were = counted(confirmed, f"{what} was", f"{what}s were")
        self.found = f"{were} confirmed, and now there {agree(now, 'is', 'are')} {now:,}"
        super().__init__(f"{self.found}. Nothing was changed.")
        self.confirmed = confirmed
        self.now = now

    def tell(self, counted: int) -> str:
        """The message, and how many there are with those that came since, if that is what is asked about next."""
        if counted <= self.now:
            return str(self)
        return f"{self.found}, or {counted:,} with what came since. Nothing was changed."


class ReasonMissing(OperationError):
    """This must not be done without a reason; the sentence says for whose sake."""
