"""The letters' filters: one form for the page, the export and the selection of all that match."""

from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django import forms
from django.contrib.postgres.search import SearchQuery
from django.db.models import BooleanField, Exists, OuterRef, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.forms import BoundField

from dashboard.fields import NamedChoiceField, NumberField, TextField, TimeField
from dashboard.models import Run
from dlq.cleaning import split_words
from dlq.json_paths import Path, contains, parse_path, read_value
from dlq.masking import MASKED, Masker
from dlq.models import DeadLetter, Facet, LetterBody, LetterRunItem
from dlq.models.letter import LetterQuerySet
from dlq.models.words import Category, Tier
from dlq.retention import KEEP_ITEMS_DAYS, has_items
from dlq.statuses import OPEN, SHOWS, STATUSES, TIERS, Shows

# Those that the counters know, so that a count needs no look at the letters.
COUNTED = {"source", "consumer", "category", "error_type", "group", "status", "tier"}
EQUAL = {
    **{
        name: name
        for name in (
            "source",
            "consumer",
            "event_type",
            "category",
            "error_type",
            "tenant",
            "event_id",
            "trace_id",
        )
    },
    "group": "group_id",
    "sequence": "sequence_key",
}
FIRST = ("words", "status", "consumer", "error_type", "category")
# More bodies than this match, or more letters were in the run: they are no longer looked up one by one.
MOST_BODIES = 1_000


def text(label: str) -> TextField:
    return TextField(required=False, max_length=700, label=label)


def choice(label: str, anything: str, choices: Any) -> forms.ChoiceField:
    return NamedChoiceField(required=False, label=label, choices=[("", anything), *choices])


class AllWords(SearchQuery):
    """A search for every one of the words, which are split as those in the index; no parser may split them again."""

    template = "(%(expressions)s)::tsquery"

    def __init__(self, words: str) -> None:
        super().__init__(" & ".join(f"'{word}'" for word in words.split()))


class LetterFilter(forms.Form):
    """All in the URL; whatever is given must hold. `status` is open unless it says otherwise."""

    words = text("Words in the error")
    status = NamedChoiceField(
        required=False,
        label="Status",
        choices=[(name, name) for name in STATUSES],
    )
    consumer = text("Consumer")
    event_type = text("Event type")
    error_type = text("Error type")
    category = choice("Category", "any category", Category.choices)
    tier = choice("Tier", "any tier", Tier.choices)
    source = text("Source")
    tenant = text("Tenant")
    since = TimeField(required=False, label="Failed since")
    until = TimeField(required=False, label="Failed before")
    sequence = text("Sequence")
    event_id = text("Event id")
    trace_id = text("Trace id")
    attempts = NumberField(required=False, min_value=1, max_value=1_000_000, label="Attempts, at least")
    most_attempts = NumberField(required=False, min_value=1, max_value=1_000_000, label="Attempts, at most")
    group = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        label="Group",
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "It must be a group's number."),
    )
    run = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**63 - 1,
        label="Run",
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "It must be a run's number."),
    )
    path = text("Payload path")
    value = text("Payload value")

    def __init__(self, data: Any, *, user: Any) -> None:
        super().__init__(data, label_suffix="")
        self.masker = Masker(user)

    @cached_property
    def first_fields(self) -> list[BoundField]:
        """Those that are wanted most, and those that are in use; the others are folded away."""
        return [field for field in self if field.name in FIRST or field.value() or field.errors]

    @property
    def other_fields(self) -> list[BoundField]:
        return [field for field in self if field not in self.first_fields]

    @property
    def problem(self) -> str:
        """What is wrong, where no field is shown at which it could stand."""
        return " ".join(
            f"{self[name].label}: {error[0].lower()}{error[1:]}"
            for name, errors in self.errors.items()
            for error in map(str, errors)
        )

    def clean_words(self) -> str:
        words = split_words(self.cleaned_data["words"])
        if self.cleaned_data["words"] and not words:
            raise forms.ValidationError("There is no word in it to look for.")
        return words

    def clean_status(self) -> str:
        return str(self.cleaned_data["status"]) or OPEN

    def clean_since(self) -> datetime | None:
        return in_utc(self.cleaned_data["since"])

    def clean_until(self) -> datetime | None:
        return in_utc(self.cleaned_data["until"])

    def clean_run(self) -> int | None:
        number: int | None = self.cleaned_data["run"]
        run = Run.objects.filter(pk=number).first() if number else None
        if number and run is None:
            raise forms.ValidationError(f"There is no run {number}.")
        if run and not has_items(run):
            raise forms.ValidationError(
                f"It is known for {KEEP_ITEMS_DAYS} days which letters a run had; run {number} ended before that."
            )
        return number

    def clean_path(self) -> Path:
        if not self.cleaned_data["path"]:
            return ()
        try:
            path = parse_path(self.cleaned_data["path"])
        except ValueError as error:
            raise forms.ValidationError(str(error)) from None
        if not self.masker.may_filter(path):
            raise forms.ValidationError(
                "Values at this path are masked; to filter by them you must be allowed to unmask."
            )
        return path

    def clean_value(self) -> str:
        value, path = str(self.cleaned_data["value"]), self.cleaned_data.get("path")
        if value and path == ():
            # Passed over, it would leave all letters to whoever looks for a few.
            raise forms.ValidationError("Its payload path is missing; write it like $.customer.email.")
        if path and not value:
            raise forms.ValidationError("Say which value it must have at its path.")
        return value

    def clean(self) -> None:
        """A consumer may be given as pages name it, with its source before it."""
        given = self.cleaned_data.get("consumer", "")
        source, _, consumer = given.partition("/")
        if source and consumer and not self.cleaned_data.get("source"):
            # A name may have a slash of its own.
            names = set(Facet.objects.filter(value__in=[given, source]).values_list("kind", "value"))
            if ("source", source) in names and ("consumer", given) not in names:
                self.cleaned_data |= {"source": source, "consumer": consumer}

    @property
    def wanted(self) -> dict[str, Any]:
        """What was given, of a valid form."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "", ())}

    def describe(self) -> dict[str, str]:
        """What was given, for the audit trail, which everybody may read."""
        given = {name: str(value) for name, value in self.data.items() if value and name in self.wanted}
        if "path" in self.wanted and self.masker.masking.covers(self.wanted["path"]):
            given["value"] = MASKED
        return given

    @property
    def shows(self) -> Shows:
        """Which letters a list of them has, of a valid form."""
        return SHOWS[self.cleaned_data["status"]]

    @property
    def is_partly_hidden(self) -> bool:
        """Whether letters may be left out because their words are not for these eyes."""
        return "words" in self.wanted and not self.masker.is_unmasked

    @property
    def is_counted(self) -> bool:
        """Whether the counters alone can tell how many match."""
        return self.wanted.keys() <= COUNTED

    @property
    def looks_elsewhere(self) -> bool:
        """Whether the letters alone do not tell which of them match."""
        return self.looks_into_bodies or "run" in self.wanted

    @property
    def looks_into_bodies(self) -> bool:
        return bool(self.wanted.keys() & {"words", "path"})

    def letters(self) -> LetterQuerySet:
        """The letters that match, but for words, payload and run."""
        wanted = self.wanted
        conditions = STATUSES[wanted["status"]]
        conditions &= Q(**{EQUAL[name]: value for name, value in wanted.items() if name in EQUAL})
        if "tier" in wanted:
            conditions &= Q(tier=TIERS[wanted["tier"]])
        if "since" in wanted:
            conditions &= Q(last_failed_at__gte=wanted["since"])
        if "until" in wanted:
            conditions &= Q(last_failed_at__lt=wanted["until"])
        if "attempts" in wanted:
            conditions &= Q(attempts__gte=wanted["attempts"])
            if wanted["attempts"] > 1:
                # Says the same again, in the words of the partial index.
                conditions &= Q(attempts__gt=RawSQL("1", ()))
        if "most_attempts" in wanted:
            conditions &= Q(attempts__lte=wanted["most_attempts"])
        for name in ("sequence_key", "trace_id", "tenant"):
            # Says the same again, in the words of the partial index.
            if any(EQUAL.get(given) == name for given in wanted):
                conditions &= ~Q(**{name: RawSQL("''", ())})
        if self.is_partly_hidden:
            # What was indexed under other masking rules may hold what is masked today.
            conditions &= Q(mask_key=self.masker.masking.key)
        return DeadLetter.objects.filter(conditions)

    def bodies(self) -> QuerySet[LetterBody]:
        """The bodies that match words and payload."""
        wanted = self.wanted
        bodies = LetterBody.objects.all()
        if "words" in wanted:
            bodies = bodies.filter(words=AllWords(wanted["words"]))
        if "path" in wanted:
            either = Q()
            for value in read_value(wanted["value"]):
                either |= Q(payload__contains=contains(wanted["path"], value))
            bodies = bodies.filter(either)
        return bodies

    def matching(self) -> LetterQuerySet:
        """Exactly those that match, however long it takes to find them."""
        return self.narrow(self.letters())

    def narrow(self, letters: LetterQuerySet) -> LetterQuerySet:
        """Those of the letters of which words, payload and run match, each looked up by itself."""
        if self.looks_into_bodies:
            letters = letters.filter(Exists(self.bodies().filter(letter=OuterRef("pk"))))
        if "run" in self.wanted:
            letters = letters.filter(Exists(self.items().filter(letter=OuterRef("pk"))))
        return letters

    def items(self) -> QuerySet[LetterRunItem]:
        return LetterRunItem.objects.filter(run=self.wanted["run"])

    @cached_property
    def few_ids(self) -> list[int] | None:
        """The letters of which words, payload and run match; None if they are many: a page's search must be bounded."""
        return self.find_ids(MOST_BODIES)

    def find_ids(self, most: int) -> list[int] | None:
        """The letters of which words, payload and run match; None if there are more of them."""
        bodies = self.bodies()
        if "run" in self.wanted:
            ids = list(self.items().values_list("letter_id", flat=True)[: most + 1])
            if len(ids) > most or not self.looks_into_bodies:
                # An event that was handled once more may have none.
                return [pk for pk in ids if pk] if len(ids) <= most else None
            bodies = bodies.filter(RawSQL("dlq_letterbody.letter_id = ANY(%s)", [ids], BooleanField()))
        ids = list(bodies.values_list("letter_id", flat=True)[: most + 1])
        return ids if len(ids) <= most else None


def in_utc(value: datetime | None) -> datetime | None:
    """Postgres does not take every offset that Python does."""
    try:
        return value.astimezone(UTC) if value else None
    except OverflowError:
        raise forms.ValidationError("There is no such time.") from None
