from datetime import timedelta
from typing import Any

from django import forms

from dashboard.fields import NamedChoiceField, ReasonField

HOLD_CHOICES = {
    "": ("until somebody resets it", None),
    "15m": ("for 15 minutes", timedelta(minutes=15)),
    "1h": ("for an hour", timedelta(hours=1)),
    "4h": ("for 4 hours", timedelta(hours=4)),
    "24h": ("for a day", timedelta(days=1)),
}


class ReasonForm(forms.Form):
    """Why an operator does it; it stays in the audit trail."""

    reason = ReasonField("Say why; the next person on call will read it.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # What is wrong, or else what must be written.
        self.fields[next(iter(self.errors), "reason")].widget.attrs["autofocus"] = True


class TripForm(ReasonForm):
    hold = NamedChoiceField(
        required=False,
        label="Hold it open",
        choices=[(key, label) for key, (label, _) in HOLD_CHOICES.items()],
    )

    def hold_for(self) -> timedelta | None:
        """How long; None: until somebody resets it."""
        return HOLD_CHOICES[self.cleaned_data["hold"]][1]
