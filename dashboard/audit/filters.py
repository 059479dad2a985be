from datetime import date, timedelta

from django import forms
from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db.models import QuerySet

from dashboard.actions import list_actions
from dashboard.days import start_of_day
from dashboard.fields import NamedChoiceField, TextField
from dashboard.models import AuditEntry

PICKER = forms.DateInput(attrs={"type": "date"})
# Days that have a day before and after them in every zone.
FIRST, LAST = date(1970, 1, 1), date(2999, 12, 31)
DAYS = [MinValueValidator(FIRST), MaxValueValidator(LAST)]
HOW = dict.fromkeys(
    ("invalid", "min_value", "max_value"), f"Write a day from {FIRST} to {LAST}, like 2026-02-28."
)


def list_choices() -> list[tuple[str, str]]:
    return [("", "any action"), *((action.name, action.name) for action in list_actions())]


class AuditFilter(forms.Form):
    """The audit page's filters, all in the URL."""

    actor = TextField(required=False, max_length=150, label="Who")
    action = NamedChoiceField(required=False, label="Did what", choices=list_choices)
    subject = TextField(required=False, max_length=200, label="To what")
    outcome = NamedChoiceField(
        required=False, label="Outcome", choices=[("", "any outcome"), *AuditEntry.Outcome.choices]
    )
    since = forms.DateField(
        required=False,
        label=f"From ({settings.TIME_ZONE})",
        widget=PICKER,
        validators=DAYS,
        error_messages=HOW,
    )
    until = forms.DateField(
        required=False, label=f"To ({settings.TIME_ZONE})", widget=PICKER, validators=DAYS, error_messages=HOW
    )

    def apply(self) -> QuerySet[AuditEntry]:
        """The entries that match; call it on a valid form."""
        wanted = self.cleaned_data
        conditions = {
            name: wanted[name] for name in ("actor", "action", "subject", "outcome") if wanted[name]
        }
        # As instants, not as `at__date`: an index on `at` serves a range of instants.
        if wanted["since"]:
            conditions["at__gte"] = start_of_day(wanted["since"])
        if wanted["until"]:
            conditions["at__lt"] = start_of_day(wanted["until"] + timedelta(days=1))
        return AuditEntry.objects.filter(**conditions)
