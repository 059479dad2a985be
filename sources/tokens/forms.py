from django import forms


class TokenForm(forms.Form):
    source = forms.CharField(
        max_length=100,
        error_messages={"required": "Name the source; its failures appear under this name."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "orders"}),
    )
    note = forms.CharField(
        max_length=200,
        required=False,
        label="What for",
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "consumers in cluster a"}),
    )
    request_key = forms.UUIDField(widget=forms.HiddenInput)


class RevokeForm(forms.Form):
    """Why an administrator does it; it stays in the audit trail."""

    reason = forms.CharField(
        max_length=500,
        error_messages={"required": "Say why; whoever wonders about the refusals will read it."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
