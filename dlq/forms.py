from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone

from dashboard.fields import AddressField, NamedChoiceField, NumberField, TextField, TimeField
from dlq.models import ClassificationRule
from dlq.models.words import Category
from dlq.replay.options import LANES, MOST_FAILURES, MOST_PACE, ReplayOptions
from dlq.reprocess.choice import EventChoice
from projections.api import find_projector, list_projectors

MUTE_FOR = {"1": "for an hour", "24": "for a day", "168": "for a week", "": "until somebody unmutes it"}

# What a wrong value of a rule is answered with, and for which of Django's own reasons.
SENTENCES = {
    "category": (f"Choose one of {', '.join(Category.values)}.", ("required", "invalid_choice")),
    "priority": (
        "It must be a whole number; the smallest is asked first.",
        ("required", "invalid", "min_value", "max_value"),
    ),
    "http_status": ("It must be a number from 100 to 599.", ("invalid", "min_value", "max_value")),
}


class RuleForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new classification rule; at least one condition, or it would swallow everything."""

    message_pattern = TextField(required=False, max_length=200, label="Message contains")

    class Meta:
        model = ClassificationRule
        fields = [
            "error_type", "http_status", "message_pattern", "consumer", "event_type",
            "category", "offers_replay", "is_security", "priority", "runbook",
        ]  # fmt: skip
        widgets = dict.fromkeys(("error_type", "consumer", "event_type", "runbook"), forms.TextInput)
        labels = {
            "http_status": "HTTP status",
            "offers_replay": "Offer a replay",
            "is_security": "Security matter",
            "priority": "Priority, smallest first",
            "runbook": "Runbook (text or address)",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.label_suffix = ""
        for name, (sentence, errors) in SENTENCES.items():
            self.fields[name].error_messages.update(dict.fromkeys(errors, sentence))
        self.fields["category"].widget.choices = [
            ("", "choose one"),
            *((value, label.lower()) for value, label in Category.choices),
        ]

    def clean_http_status(self) -> int | None:
        status: int | None = self.cleaned_data["http_status"]
        if status is not None and not 100 <= status <= 599:
            raise forms.ValidationError(SENTENCES["http_status"][0])
        return status

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or {}
        # A pattern of stars alone is none: they stand for anything.
        is_patterned = bool((data.get("message_pattern") or "").strip("* "))
        conditions = ("error_type", "http_status", "consumer", "event_type")
        if not self.errors and not is_patterned and not any(data.get(name) for name in conditions):
            raise forms.ValidationError("Give at least one condition, or the rule would match every failure.")
        return data


class AssignForm(forms.Form):
    """Empty gives the group to nobody."""

    assignee = TextField(required=False, max_length=150, what="A user's name")

    def clean_assignee(self) -> str:
        name: str = self.cleaned_data["assignee"]
        if name and not User.objects.filter(username=name, is_active=True).exists():
            raise forms.ValidationError(f"There is no active user {name!r}.")
        return name


class MuteForm(forms.Form):
    hours = NamedChoiceField(required=False, choices=list(MUTE_FOR.items()))
    reason = TextField(required=False, max_length=500, what="A reason")

    @property
    def until(self) -> Any:
        """None: until somebody unmutes it."""
        hours = self.cleaned_data["hours"]
        return timezone.now() + timedelta(hours=int(hours)) if hours else None


class NoteForm(forms.Form):
    note = TextField(required=False, max_length=10_000, what="A note")


class TicketForm(forms.Form):
    ticket = AddressField(
        required=False,
        max_length=500,
        what="The address of a ticket",
        assume_scheme="https",
        error_messages={"invalid": "The ticket must be an address, such as https://tickets.example/OPS-7."},
    )


class ReplayForm(forms.Form):
    """How a replay is to go about it."""

    start = NamedChoiceField(
        choices=[("canary", ""), ("all", ""), ("dry", "")],
        initial="canary",
        error_messages={"required": "Choose how it starts: canary, all or dry."},
    )
    pace = NumberField(required=False, min_value=1, max_value=MOST_PACE, empty="unlimited")
    stop_after = NumberField(required=False, min_value=1, max_value=MOST_FAILURES, empty="never")
    lanes = forms.TypedChoiceField(
        choices=[(n, n) for n in LANES],
        coerce=int,
        error_messages=dict.fromkeys(
            ("required", "invalid_choice"),
            f"There can be {', '.join(map(str, LANES[:-1]))} or {LANES[-1]} lanes.",
        ),
    )
    reason = TextField(required=False, max_length=1_000, what="A reason")

    # What the page says on top when something is wrong.
    problem = "Nothing was started; what is wrong stands at its field."

    def options(self, *, force: bool) -> ReplayOptions:
        data = self.cleaned_data
        return ReplayOptions(
            canary=data["start"] == "canary",
            dry_run=data["start"] == "dry",
            pace=data["pace"],
            stop_after=data["stop_after"],
            lanes=data["lanes"],
            force=force,
        )


class EventsForm(forms.Form):
    """Which events of the store: of one projection, by stream, type and the time at which they were recorded."""

    consumer = NamedChoiceField(label="Projection")
    stream = TextField(required=False, max_length=700, label="Stream (aggregate)", what="A stream's name")
    type = forms.MultipleChoiceField(
        required=False,
        label="Types (none ticked: all)",
        error_messages={"invalid_choice": "'%(value)s' is not among the types that it handles; tick those."},
    )
    since = TimeField(required=False, label="Recorded from")
    until = TimeField(required=False, label="Recorded until")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        projector = find_projector(data["consumer"]) if data and data.get("consumer") else None
        self.fields["consumer"].choices = [(one.name, one.name) for one in list_projectors()]  # type: ignore[attr-defined]
        types = projector.event_types if projector else []
        self.fields["type"].choices = [(name, name) for name in types]  # type: ignore[attr-defined]

    @property
    def choice(self) -> EventChoice:
        data = self.cleaned_data
        return EventChoice(
            data["consumer"],
            types=tuple(data["type"]),
            stream=data["stream"],
            since=data["since"],
            until=data["until"],
        )
