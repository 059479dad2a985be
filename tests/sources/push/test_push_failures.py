import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from dlq.models import Attempt, DeadLetter, LetterBody
from sources.models import Token
from sources.tokens.operations import create_token, revoke_token

pytestmark = pytest.mark.django_db

Push = Callable[..., HttpResponse]
Make = Callable[..., dict[str, Any]]


def test_a_failure_becomes_a_letter_of_the_tokens_source(push: Push, make_failure: Make) -> None:
    fields = {
        "event_type": "OrderPlaced",
        "stacktrace": "Traceback …",
        "payload": {"total": 12.5},
        "headers": {"h": "1"},
        "sequence_key": "ord-1",
        "sequence_no": 7,
        "topic": "orders",
        "partition": 3,
        "offset": 9,
        "attempts": 4,
        "category": "permanent",
        "duration_ms": 12,
        "trace_id": "t",
        "tenant": "acme",
        "app_version": "1.8.0",
    }
    response = push(make_failure(**fields))
    assert (response.status_code, response.json()) == (202, {"recorded": 1, "refused": []})
    letter = DeadLetter.objects.get()
    for name in fields.keys() - {"stacktrace", "payload", "headers", "duration_ms"}:
        assert getattr(letter, name) == fields[name], name
    assert (letter.source, letter.consumer, letter.event_id) == ("orders", "order-summary", "e1")
    assert (letter.error_type, letter.summary, letter.status) == ("KeyError", "currency", "failed")
    assert letter.last_failed_at == datetime(2025, 11, 1, 12, 0, 0, 123456, tzinfo=UTC)
    assert letter.body.payload == {"total": 12.5}
    assert letter.body.payload_raw is None
    assert (letter.body.headers, letter.body.stacktrace) == ({"h": "1"}, "Traceback …")
    assert Attempt.objects.get().duration_ms == 12


def test_many_come_as_an_array_or_as_lines(push: Push, make_failure: Make) -> None:
    many = [make_failure(event_id=f"e{n}") for n in range(3)]
    assert push(many).json() == {"recorded": 3, "refused": []}
    lines = "\r\n\n".join(json.dumps(make_failure(event_id=f"line {n}")) for n in range(3)).encode()
    assert push(lines, "application/x-ndjson").json() == {"recorded": 3, "refused": []}
    assert push(b"\xef\xbb\xbf" + lines, "application/jsonl").json()["recorded"] == 3
    assert DeadLetter.objects.count() == 6


def test_an_empty_array_is_nothing_to_do(push: Push) -> None:
    assert (push([]).status_code, push([]).json()) == (202, {"recorded": 0, "refused": []})


def test_twice_is_once(push: Push, make_failure: Make) -> None:
    many = [make_failure(event_id=f"e{n}", attempts=3) for n in range(3)]
    for _ in range(2):
        assert push(many).json()["recorded"] == 3
    assert push([*many, *many]).json()["recorded"] == 6
    assert DeadLetter.objects.count() == Attempt.objects.count() == 3
    assert set(DeadLetter.objects.values_list("attempts", flat=True)) == {3}


def test_the_same_event_that_failed_later_is_another_attempt(push: Push, make_failure: Make) -> None:
    push(make_failure())
    push(make_failure(failed_at="2025-11-01T13:00:00+01:00", error_message="another"))
    push(make_failure(failed_at="2025-11-01T12:30:00Z", error_message="a later one"))
    assert DeadLetter.objects.get().summary == "a later one"
    assert Attempt.objects.count() == 3


def test_bad_items_are_named_and_the_good_ones_are_kept(push: Push, make_failure: Make) -> None:
    response = push(
        [make_failure(), make_failure(consumer=" "), 5, make_failure(event_id="e2"), make_failure(atempts=3)]
    )
    assert response.status_code == 202
    answer = response.json()
    assert answer["recorded"] == 2
    assert [one["index"] for one in answer["refused"]] == [1, 2, 4]
    assert answer["refused"][0]["reason"] == "consumer is missing; write text."
    assert answer["refused"][1]["reason"] == "It is not an object."
    assert answer["refused"][2]["reason"].startswith(
        "'atempts' is not a field of a failure; the fields are consumer"
    )
    assert set(DeadLetter.objects.values_list("event_id", flat=True)) == {"e1", "e2"}


def test_a_line_that_is_no_json_is_refused_by_its_number(push: Push, make_failure: Make) -> None:
    good = json.dumps(make_failure()).encode()
    lines = [b"", good, b"{", b"\xff", b"[" * 100_000, good + good, b"null"]
    answer = push(b"\n".join(lines), "application/x-ndjson").json()
    assert answer["recorded"] == 1
    assert [one["index"] for one in answer["refused"]] == [2, 3, 4, 5, 6]
    assert [one["reason"].partition(":")[0] for one in answer["refused"]] == [
        "It is not JSON",
        "It is not JSON",
        "It is nested too deeply to be read.",
        "It is not JSON",
        "It is not an object.",
    ]


def test_one_that_is_nested_too_deeply_is_refused_by_itself(push: Push, make_failure: Make) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    # What looks like its end and is none: brackets and escaped quotes in a text.
    item = b'{"consumer": "a\\"]}[\\\\", "payload": ' + deep + b', "headers": {"x": "}"}}'
    first, last = (json.dumps(make_failure(event_id=name)).encode() for name in ("e1", "e2"))
    answer = push(b"[" + b", ".join([first, item, deep, last]) + b"]").json()
    assert answer["recorded"] == 2
    assert [one["index"] for one in answer["refused"]] == [1, 2]
    assert {one["reason"] for one in answer["refused"]} == {"It is nested too deeply to be read."}
    assert set(DeadLetter.objects.values_list("event_id", flat=True)) == {"e1", "e2"}


@pytest.mark.parametrize("inside", [b'\\"', b"a", b'"', b"\\"])
def test_one_that_is_too_deep_and_does_not_end_costs_no_more_than_its_length(
    push: Push, inside: bytes
) -> None:
    """Were a text without end looked for again and again, this would take hours."""
    body = b'[{"payload": ' + b"[" * 100_000 + b'"' + inside * (2_000_000 // len(inside))
    assert push(body).status_code == 400


def test_if_not_one_is_good_it_is_a_bad_request(push: Push) -> None:
    response = push({"consumer": "c"})
    assert response.status_code == 400
    assert response.json()["refused"][0]["reason"].startswith("failed_at is missing")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"consumer": 5}, "consumer is 5; write text."),
        ({"consumer": None}, "consumer is missing"),
        ({"failed_at": "yesterday"}, 'failed_at is "yesterday"; write an ISO 8601 time'),
        ({"failed_at": "2025-11-01T12:00:00"}, "failed_at is"),
        ({"failed_at": "2999-01-01T00:00:00Z"}, "failed_at is"),
        ({"failed_at": "0001-01-01T00:00:00+14:00"}, "failed_at is"),
        ({"failed_at": "9999-12-31T23:59:59-14:00"}, "failed_at is"),
        ({"failed_at": 1_700_000_000}, "failed_at is"),
        ({"attempts": 0}, "attempts is 0; write a whole number from 1 to 1,000,000."),
        ({"attempts": True}, "attempts is true"),
        ({"attempts": 1.0}, "attempts is 1.0"),
        ({"offset": 2**63}, "offset is"),
        ({"partition": 2**31}, "partition is"),
        ({"duration_ms": -1}, "duration_ms is"),
        ({"category": "bad"}, 'category is "bad"; write transient, permanent, poison, dependency or infra'),
        ({"category": ["bad"]}, "category is"),
        ({"headers": {"a": 1}}, 'headers is {"a": 1}; write an object of text.'),
        ({"payload_base64": "%"}, "payload_base64 is"),
        ({"payload_base64": "é"}, "payload_base64 is"),
        ({"payload_base64": "YQ==", "payload": 1}, "payload and payload_base64 are both there"),
        ({"event_id": None}, "Nothing says which event"),
        ({"event_id": "", "topic": "t"}, "Nothing says which event"),
        ({"error_type": None, "error_message": ""}, "Nothing says what went wrong"),
        ({"eventId": "e"}, "'eventId' is not a field"),
        ({"source": "native"}, "'source' is not a field"),
        ({"run_id": 1}, "'run_id' is not a field"),
    ],
)
def test_bad_input_gets_a_sentence(
    push: Push, make_failure: Make, fields: dict[str, Any], reason: str
) -> None:
    response = push(make_failure(**fields))
    assert response.status_code == 400
    assert response.json()["refused"][0]["reason"].startswith(reason)
    assert not DeadLetter.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"event_id": None, "payload": {"a": 1}},
        {"event_id": None, "topic": "t", "offset": 0},
        {"event_id": None, "payload_base64": "AP8="},
        {"error_message": None},
        {"headers": None, "attempts": None, "payload": None},
        # As Go and Rust write it.
        {"failed_at": "2025-11-01T12:00:00.123456789Z"},
    ],
)
def test_what_is_enough(push: Push, make_failure: Make, fields: dict[str, Any]) -> None:
    for _ in range(2):
        assert push(make_failure(**fields)).json() == {"recorded": 1, "refused": []}
    assert Attempt.objects.count() == 1


@pytest.mark.parametrize(
    ("written", "held"),
    [
        (b'{"a": [1, "x", null]}', None),
        (b'{"a": 0.1000000000000000055}', b'{"a": 0.1000000000000000055}'),
        (b'{"a": 1e400}', b'{"a": 1e400}'),
        (b'{"a": NaN}', b'{"a": NaN}'),
        (b'{"a": "\\ud800"}', b'{"a": "\\ud800"}'),
        (b'{"a": "\\u0000"}', b'{"a": "\\u0000"}'),
        (b'{"a": ' + b"9" * 5000 + b"}", b'{"a": ' + b"9" * 5000 + b"}"),
        (b"[" * 500 + b"]" * 500, b"[" * 500 + b"]" * 500),
        (b'"<xml/>"', b"<xml/>"),
        (b"12.50", None),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_a_payload_is_kept_to_the_last_digit(
    push: Push, make_failure: Make, written: bytes, held: Any
) -> None:
    body = json.dumps(make_failure(payload="HERE")).encode().replace(b'"HERE"', written)
    assert push(body).json() == {"recorded": 1, "refused": []}
    raw = LetterBody.objects.get().payload_raw
    assert (None if raw is None else bytes(raw)) == held
    if held is None:
        assert LetterBody.objects.get().payload == json.loads(written)


def test_bytes_come_in_base64(push: Push, make_failure: Make) -> None:
    push(make_failure(payload_base64="AP8="))
    assert bytes(LetterBody.objects.get().payload_raw) == b"\x00\xff"


def test_it_rejects_get(secret: str) -> None:
    response = Client().get("/api/v1/failures", headers={"Authorization": f"Bearer {secret}"})
    assert (response.status_code, response["Allow"]) == (405, "POST")


def test_a_wrong_a_missing_and_a_revoked_token_learn_nothing(push: Push, make_failure: Make) -> None:
    token, revoked = create_token("orders", actor="tests")
    revoke_token(token, actor="tests", reason="leaked")
    wrong = [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        f"Bearer {revoked}",
        f"Basic {revoked}",
        revoked,
        "Bearer é",
    ]
    answers = []
    for authorization in wrong:
        for body, content_type in ((make_failure(), "application/json"), (b"{", "text/plain"), (b"", "")):
            answers.append(push(body, content_type, Authorization=authorization))
    first = answers[0]
    assert first.status_code == 401
    assert "token" in first.json()["error"]
    for answer in answers:
        assert (answer.status_code, answer.content, answer.headers) == (401, first.content, first.headers)
    assert not DeadLetter.objects.exists()
    assert Token.objects.get(pk=token.pk).used_at is None


def test_a_token_found_and_a_token_not_found_ask_the_database_the_same(
    push: Push, django_assert_num_queries: Any
) -> None:
    token, revoked = create_token("orders", actor="tests")
    revoke_token(token, actor="tests", reason="leaked")
    for authorization in ("", "Bearer wrong", f"Bearer {revoked}"):
        with django_assert_num_queries(1):
            push(b"", Authorization=authorization)


def test_a_session_is_no_token(admin: Client, make_failure: Make) -> None:
    assert admin.post("/api/v1/failures", make_failure(), content_type="application/json").status_code == 401


def test_a_token_is_no_session(secret: str) -> None:
    for path in ("/", "/dead-letters/", "/api/v1/failures/schema", "/sources/tokens/"):
        response = Client().get(path, headers={"Authorization": f"Bearer {secret}"})
        assert response.status_code == 302


def test_it_says_when_the_token_was_used(push: Push, make_failure: Make) -> None:
    assert Token.objects.get().used_at is None
    push(make_failure())
    assert Token.objects.get().used_at is not None


def test_what_is_wrong_with_the_address_is_said_in_json(secret: str) -> None:
    response = Client().post("/api/v1/failurs", b"{}", content_type="application/json")
    assert (response.status_code, response["Content-Type"]) == (404, "application/json")


def test_a_pushed_letter_says_that_it_has_no_target(push: Push, make_failure: Make, operator: Client) -> None:
    push(make_failure(payload={"a": 1}))
    letter = DeadLetter.objects.get()
    assert (
        '<dd class="mono">orders</dd>' in operator.get(f"/dead-letters/letters/{letter.pk}/").content.decode()
    )
    page = operator.get(f"/dead-letters/replay/confirm/?id={letter.pk}").content.decode()
    assert "Nothing to replay" in page
    assert "nobody has said where letters of its consumer are replayed to" in page
