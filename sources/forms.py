from django import forms


class ReleaseForm(forms.Form):
    """What was confirmed, and why; the reason stays in the audit trail."""

    count = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    until = forms.DateTimeField(widget=forms.HiddenInput)
    reason = forms.CharField(
        max_length=500,
        error_messages={"required": "Say why; the next person on call will read it."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
