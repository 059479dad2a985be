from django import forms

from dashboard.fields import ReasonField


class ReleaseForm(forms.Form):
    """What was confirmed, and why; the reason stays in the audit trail."""

    # Both come from the confirmation itself; only a page that was tampered with, or a script, sends anything else.
    count = forms.IntegerField(
        min_value=1,
        error_messages=dict.fromkeys(
            ("required", "invalid", "min_value"),
            "count: the number of rows that were confirmed, a whole number from 1.",
        ),
        widget=forms.HiddenInput,
    )
    until = forms.DateTimeField(
        error_messages=dict.fromkeys(
            ("required", "invalid"),
            "until: when they were counted, a time such as 2026-02-28T23:00:00+00:00.",
        ),
        widget=forms.HiddenInput,
    )
    reason = ReasonField("Say why; the next person on call will read it.", autofocus=True)
