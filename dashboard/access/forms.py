from django import forms


class DisableForm(forms.Form):
    """Why an administrator does it; it stays in the audit trail."""

    reason = forms.CharField(
        max_length=500,
        error_messages={"required": "Say why; whoever wonders where they are will read it."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
