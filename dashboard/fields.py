"""Form fields that more than one section uses."""

from django import forms

# More than this nobody reads under a field; the list itself shows them.
MOST_NAMED = 8


class NamedChoiceField(forms.ChoiceField):
    """A choice that, when it refuses a value, names those it takes: addresses are written by hand, too."""

    def validate(self, value: str) -> None:
        forms.Field.validate(self, value)
        if value and not self.valid_value(value):
            taken = [str(key) for key, _ in self.widget.choices if key != ""]
            then = f"it can be {', '.join(taken)}" if len(taken) <= MOST_NAMED else "choose from the list"
            raise forms.ValidationError(f"{value!r} is not known; {then}.")
