"""Whatever is reported is recorded: nothing raises, nothing is lost."""

import json
from decimal import Decimal
from itertools import count
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dlq.api import JsonbText, JsonText, record_failure
from dlq.filters import LetterFilter
from dlq.masking import Masker
from dlq.models import DeadLetter
from dlq.queries import get_letter

pytestmark = pytest.mark.django_db

# Also NUL and half surrogate pairs.
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=30)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(ANY_TEXT, children, max_size=4),
    max_leaves=15,
)


NUMBERS = count()


class Unmasked:
    """Somebody who may see everything."""

    def has_perm(self, name: str) -> bool:
        return True


def read(letter_id: int) -> Any:
    return Masker(Unmasked()).letter(get_letter(letter_id).letter)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    payload=ANY_JSON | st.binary(max_size=200) | ANY_TEXT,
    text=ANY_TEXT,
    headers=st.dictionaries(ANY_TEXT | st.binary(), ANY_TEXT | st.binary() | st.integers(), max_size=3),
    number=st.integers() | st.none(),
)
def test_any_error_and_any_payload_is_recorded_and_shown(
    payload: Any, text: str, headers: Any, number: int | None
) -> None:
    names = "consumer event_type sequence_key error_type error_message stacktrace tenant trace_id app_version"
    numbers = "sequence_no position offset partition duration_ms"
    letter_id = record_failure(
        payload=payload,
        headers=headers,
        # Of its own, or the same letter would be recorded again and again.
        event_id=f"{text}{next(NUMBERS)}",
        **dict.fromkeys(names.split(), text),
        **dict.fromkeys(numbers.split(), number),
    )
    shown = read(letter_id)
    assert len(shown.error_message) == len(text)
    if isinstance(payload, bytes):
        assert bytes(shown.body.payload_raw) == payload
    elif isinstance(payload, str):
        assert bytes(shown.body.payload_raw) == payload.encode(errors="surrogatepass")
    elif shown.body.payload is not None:
        # Postgres writes 1e16 as 10000000000000000: the same number, and no longer a float to Python.
        sent, kept = (
            json.loads(json.dumps(value), parse_int=float) for value in (payload, shown.body.payload)
        )
        assert sent == kept
    elif payload is not None:
        assert shown.payload_text


@pytest.mark.parametrize(
    "payload",
    [
        b"\x00\xff not text",
        b'{"a": "\\u0000"}',
        b'{"a": "\\ud800"}',
        b'{"a": NaN}',
        b'{"a": 1e400000}',
        b'{"a": ' + b"9" * 5000 + b"}",
        b"[" * 150 + b"]" * 150,
        b"[" * 100_000,
        b'{"a": ' * 3000 + b"1" + b"}" * 3000,
        b'{"big": "' + b"x" * 2_000_000 + b'"}',
        b"",
        b"null",
    ],
    ids=lambda payload: repr(payload[:12]),
)
def test_bytes_that_no_jsonb_can_hold_are_kept_as_they_came(payload: bytes) -> None:
    shown = read(record_failure(consumer="c", event_id="e", payload=payload))
    assert bytes(shown.body.payload_raw) == payload
    assert isinstance(shown.payload_text, str)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=60))
@example(text="0x1F 1e5 -7 v1.7.2 a@b.example /srv/app O'Neil ÉTÉ")
@example(text="x" * 690)
def test_any_word_of_an_error_is_found(text: str) -> None:
    letter_id = record_failure(consumer="c", event_id=f"word{next(NUMBERS)}", error_message=text)
    words = LetterFilter({"words": text}, user=Unmasked())
    if words.is_valid() and "words" in words.wanted:
        assert letter_id in words.matching().values_list("pk", flat=True)


def test_an_id_that_looks_like_a_huge_number_is_no_number() -> None:
    payload = {"id": "d1029e12-9e1234567", "note": 'a \\" 1e99999 "quoted"', "rate": 1e-7}
    assert read(record_failure(consumer="c", event_id="e", payload=payload)).body.payload == payload


def test_a_value_that_no_jsonb_can_hold_is_kept_as_text() -> None:
    circle: list[Any] = []
    circle.append(circle)
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for payload in ({"a": float("nan")}, {(1, 2): 3}, {"when": object()}, circle, deep):
        assert read(record_failure(consumer="c", event_id=str(id(payload)), payload=payload)).payload_text


class Unwritable:
    def __repr__(self) -> str:
        raise OSError("not now")


@pytest.mark.parametrize("payload", [{"n": 10**5000}, {1j: Unwritable()}], ids=["digits", "object"])
def test_a_value_that_python_itself_cannot_write_is_recorded_all_the_same(payload: Any) -> None:
    shown = read(record_failure(consumer="c", event_id="e", payload=payload, error=ValueError(payload)))
    assert shown.payload_text == "<dict that cannot be written>"


@pytest.mark.parametrize(
    "category", [None, 5, Unwritable(), "dépendance"], ids=["none", "number", "object", "word"]
)
def test_an_error_that_has_a_category_of_its_own_is_classified_all_the_same(category: Any) -> None:
    """A replay hands over what the handler's exception calls its category, whatever that is."""
    record_failure(consumer="c", event_id="e", error=TimeoutError("too slow"), category=category)
    assert DeadLetter.objects.get().category == "transient"


def test_a_megabyte_of_error_text_is_kept_in_full_and_shown_in_short() -> None:
    message = "order 1 failed " * 70_000
    letter_id = record_failure(consumer="c", event_id="e", error_message=message, stacktrace=message)
    assert read(letter_id).error_message == message
    assert len(DeadLetter.objects.get().summary) == 200


def test_names_longer_than_an_index_can_hold_stay_different() -> None:
    one, other = (record_failure(consumer="c", event_id="x" * 5000 + end) for end in "ab")
    assert one != other
    assert record_failure(consumer="c", event_id="x" * 5000 + "a") == one


class Unwritable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no")


def test_even_what_cannot_be_written_is_recorded() -> None:
    letter_id = record_failure(
        consumer="c",
        event_id="e",
        error=Unwritable(),
        payload={"a": Unwritable()},
        headers={"h": Unwritable()},
    )
    assert "Unwritable" in read(letter_id).error_message


@pytest.mark.parametrize(
    ("text", "is_exact"),
    [
        ('{"a": [1, 2.5, -1e5], "b": "0.10000000000000000555"}', True),
        ("123456789012345678901234567890", True),
        ("12.50", True),
        ('{"a": 0.10000000000000000555}', False),
        ("[-12345678901234567.5]", False),
        ("1e400", False),
        ("[1, -1.5E-310]", False),
        ('{"a": NaN}', False),
    ],
)
def test_json_text_is_held_once_unless_reading_it_would_change_a_number(text: str, is_exact: bool) -> None:
    body = read(record_failure(consumer="c", event_id="e", payload=JsonText(text))).body
    assert (body.payload_raw is None) == is_exact
    if is_exact:
        assert body.payload == json.loads(text)
    else:
        assert bytes(body.payload_raw).decode() == text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(number=st.decimals(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False).map(Decimal))
def test_a_number_from_another_postgres_is_not_changed(number: Decimal) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT jsonb_build_object('a', %s::numeric)::text", [number])
        text = cursor.fetchone()[0]
    body = read(record_failure(consumer="c", event_id=f"n{next(NUMBERS)}", payload=JsonbText(text))).body
    if body.payload_raw is None:
        assert Decimal(repr(body.payload["a"])) == number
    else:
        assert bytes(body.payload_raw).decode() == text
