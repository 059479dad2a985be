from typing import Self
from uuid import uuid4

from django import forms

from dashboard.fields import ReasonField, TextField


class TokenForm(forms.Form):
    source = TextField(
        what="A source's name",
        max_length=100,
        error_messages={"required": "Name the source; its failures appear under this name."},
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "orders"}),
    )
    note = TextField(
        max_length=200,
        required=False,
        label="What for",
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "cluster a"}),
    )
    # So that the same form sent twice makes one token.
    request_key = forms.UUIDField(
        error_messages=dict.fromkeys(
            ("required", "invalid"), "The form was incomplete, and no token was made. Send it again."
        ),
        widget=forms.HiddenInput,
    )

    def renew(self) -> Self:
        """What was refused is shown with another number: sent again, it is another request."""
        self.data = {name: self.data.get(name) for name in self.fields} | {"request_key": str(uuid4())}
        return self


class RevokeForm(forms.Form):
    """Why an admin does it; it stays in the audit trail."""

    reason = ReasonField("Say why; whoever wonders about the refusals will read it.", autofocus=True)
