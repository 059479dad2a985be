"""Masked values: nobody without the permission can tell two of them apart, wherever they look."""

from typing import Any

import pytest
from django.http import QueryDict
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from dashboard.actions import ADMIN, VIEWER
from dlq.api import Failure, record_failures
from dlq.exports import export_csv, export_ndjson
from dlq.filters import LetterFilter
from dlq.masking import HIDDEN, MASKED, Masker
from dlq.models import Attempt, DeadLetter, FailureGroup
from dlq.needs import find_worst_groups
from dlq.queries import count_letters, get_group, list_letters

pytestmark = pytest.mark.django_db

# Letters that the texts around the values do not use, and what needs escaping in JSON, Python and URLs.
VALUES = st.text("xyzXYZ0189@._-é'\"\\ %\n", min_size=4, max_size=40).filter(
    lambda value: len(value.strip()) >= 4
)


@pytest.fixture(autouse=True)
def _masked_paths(settings: Any) -> None:
    settings.MASKED_PATHS = ["$.customer.email", "$.cards[*].number"]


def record(event_id: str, email: Any, number: Any = 1, **fields: Any) -> DeadLetter:
    payload = {"customer": {"email": email, "id": 7}, "cards": [{"number": number, "kind": "debit"}]}
    text = f"cannot bill {email}, no: {email!r}"
    given = {
        "payload": payload,
        "error_message": text,
        "stacktrace": f"Traceback: {text}",
        "headers": {"to": text},
    }
    failure = Failure(consumer="c", event_id=event_id, error_type="BillError", **given | fields)
    return DeadLetter.objects.select_related("body", "group").get(pk=record_failures([failure])[0])


def everything(letter: DeadLetter, user: Any) -> list[Any]:
    """All that a page, a diff or a row shows about a letter, but for what tells it is this one."""
    masker = Masker(user)
    shown = masker.letter(letter)
    assert letter.group is not None
    return [
        masker.summary(letter),
        masker.title(letter.group),
        letter.group_id,
        letter.category,
        shown.payload,
        shown.payload_text,
        shown.payload_size,
        shown.error_message,
        shown.stacktrace,
        shown.headers,
        [shown.text(attempt.error_message) for attempt in Attempt.objects.filter(letter=letter)],
    ]


@hypothesis_settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(one=VALUES, other=VALUES)
def test_a_viewer_cannot_tell_masked_values_apart(make_user: Any, one: str, other: str) -> None:
    DeadLetter.objects.all().delete()
    FailureGroup.objects.all().delete()
    viewer = Viewer()
    first, second = record("first", one), record("second", other)
    assert everything(first, viewer) == everything(second, viewer)
    assert one not in repr(everything(first, viewer))
    for value in (one, other):
        form = LetterFilter({"words": value, "status": "any"}, user=viewer)
        if form.is_valid():
            found = {letter.event_id for letter in list_letters(form, QueryDict()).page.rows}
            assert found in (set(), {"first", "second"})
            assert count_letters(form).number == len(found)


class Viewer:
    """Somebody who may see, but not unmask."""

    def has_perm(self, name: str) -> bool:
        return False


def test_an_export_tells_a_viewer_no_more_than_the_page(make_user: Any) -> None:
    record("first", "alice@x.example", "4111 1111")
    for role, is_shown in ((VIEWER, False), (ADMIN, True)):
        form = LetterFilter({}, user=make_user(role=role))
        assert form.is_valid()
        for text in ("".join(export_csv(form)), "".join(export_ndjson(form))):
            assert ("alice@x.example" in text) is is_shown
            assert ("4111 1111" in text) is is_shown


def test_groups_do_not_split_by_masked_values_and_their_titles_have_none(make_user: Any) -> None:
    letters = [record(name, f"{name}@x.example") for name in ("alice", "bob")]
    assert letters[0].group_id == letters[1].group_id
    group = get_group(letters[0].group_id or 0).group
    assert MASKED in group.title
    assert "alice" not in f"{group.title}{group.normal_message}"


def test_whoever_may_unmask_sees_what_came(make_user: Any) -> None:
    shown = Masker(make_user(role=ADMIN)).letter(record("first", "alice@x.example"))
    assert shown.payload["customer"]["email"] == "alice@x.example"
    assert "alice@x.example" in shown.error_message
    assert shown.payload_size


def test_a_summary_that_was_masked_by_other_rules_is_made_anew_and_is_no_longer() -> None:
    letter = record("first", "", error_message=f"\n{'x' * 300}\nand more")
    stored = letter.summary
    letter.mask_key = "of other rules"
    assert Masker(Viewer()).letter(letter).summary == stored == "x" * 200


def test_null_and_objects_look_like_any_other_masked_value() -> None:
    for value in (None, "", 0, {"a": 1}, ["x"]):
        shown = Masker(Viewer()).letter(record(repr(value), value))
        assert shown.payload["customer"] == {"email": MASKED, "id": 7}


@pytest.mark.parametrize("payload", [b'{"customer": {"email": "alice@x.exam', b"\x00\x01", b"[" * 500])
def test_a_payload_that_cannot_be_read_is_hidden_with_its_error(payload: bytes) -> None:
    letter = record("first", "", payload=payload, error_message="cannot read alice@x.example")
    shown = Masker(Viewer()).letter(letter)
    assert (shown.payload_text, shown.error_message, letter.summary) == (HIDDEN, HIDDEN, HIDDEN)


def test_what_failed_as_somebody_had_replaced_it_shows_no_masked_value_of_the_replacement() -> None:
    record("first", "alice@x.example")
    letter = record("first", "carol@x.example", keeps_payload=True, failed_at=timezone.now())
    shown = Masker(Viewer()).letter(letter)
    assert "carol" not in f"{shown.error_message}{shown.stacktrace}"
    assert MASKED in shown.stacktrace


def test_a_letter_recorded_under_other_rules_shows_no_text_until_it_is_opened(settings: Any) -> None:
    settings.MASKED_PATHS = []
    letter = record("first", "alice@x.example")
    assert "alice" in letter.summary
    settings.MASKED_PATHS = ["$.customer.email"]
    viewer = Viewer()
    masker = Masker(viewer)
    assert masker.summary(letter) == HIDDEN
    assert letter.group is not None
    assert HIDDEN in masker.title(letter.group)
    assert [need.headline for need in find_worst_groups()] == ["c fails: BillError"]
    assert "alice" not in masker.letter(letter).error_message
    form = LetterFilter({"words": "alice"}, user=viewer)
    assert form.is_valid()
    assert list_letters(form, QueryDict()).page.rows == []
