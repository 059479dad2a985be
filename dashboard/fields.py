"""Form fields that more than one section uses."""

from typing import Any

from django import forms
from django.conf import settings

# How a time can be written; a day of its own, so that nobody takes it for a value.
EXAMPLE_TIME = "2026-02-28 23:00"
# More than this nobody reads under a field; the list itself shows them.
MOST_NAMED = 8


class NamedChoiceField(forms.ChoiceField):
    """A choice that, when it refuses a value, names those it takes: addresses are written by hand, too."""

    def validate(self, value: str) -> None:
        forms.Field.validate(self, value)
        if value and not self.valid_value(value):
            choices = [(str(key), label) for key, label in self.widget.choices if key or not self.required]
            taken = [key or f"empty ({label})" for key, label in choices]
            then = f"it can be {', '.join(taken)}" if len(taken) <= MOST_NAMED else "choose from the list"
            raise forms.ValidationError(f"{value!r} is not known; {then}.")


class TextField(forms.CharField):
    """A text; if it is too long, what it is can have at most, and how much this one has."""

    max_length: int

    def __init__(self, *, max_length: int, what: str = "It", **kwargs: Any) -> None:
        super().__init__(max_length=max_length, **kwargs)
        self.what = what

    def run_validators(self, value: Any) -> None:
        if len(value) > self.max_length:
            raise forms.ValidationError(
                f"{self.what} can have at most {self.max_length:,} characters; this one has {len(value):,}."
            )
        super().run_validators(value)


class ReasonField(TextField):
    """Why somebody does it, which stays in the audit trail; where it is missing, `why` it is asked for."""

    def __init__(self, why: str, **attrs: Any) -> None:
        super().__init__(
            what="A reason",
            max_length=500,
            label="Reason (required)",
            error_messages={"required": why},
            widget=forms.TextInput(attrs={"autocomplete": "off", **attrs}),
        )


class AddressField(TextField, forms.URLField):
    """The address of a page."""


class NumberField(forms.IntegerField):
    """A whole number; whatever is wrong with it, what it can be is said, and what it means if there is none."""

    def __init__(self, *, min_value: int, max_value: int, empty: str = "", **kwargs: Any) -> None:
        otherwise = f", or empty for {empty}" if empty else ""
        sentence = f"It must be a whole number from {min_value:,} to {max_value:,}{otherwise}."
        messages = dict.fromkeys(("invalid", "min_value", "max_value"), sentence)
        super().__init__(min_value=min_value, max_value=max_value, error_messages=messages, **kwargs)


class TimeField(forms.DateTimeField):
    """A time; if it cannot be read, how to write one is said."""

    def __init__(self, **kwargs: Any) -> None:
        sentence = f"Write it like {EXAMPLE_TIME}; the zone is {settings.TIME_ZONE}."
        super().__init__(error_messages={"invalid": sentence}, **kwargs)
