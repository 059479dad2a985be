"""Whatever is sent: an answer that says what became of it, never a mistake of ours, and nothing half-stored."""

import json
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from dlq.models import Attempt, DeadLetter, LetterBody
from sources.models import Token
from sources.push.formats.native import FIELDS

pytestmark = pytest.mark.django_db

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
NUMBERS = (
    st.integers() | st.floats() | st.integers(-(2**80), 2**80) | st.sampled_from([10**400, "MANY DIGITS"])
)
TIMES = st.sampled_from(
    ["2025-11-01T12:00:00Z", "2025-11-01T12:00:00+14:00", "0001-01-01T00:00:00+23:59", "2025-W01"]
)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | ANY_TEXT | TIMES,
    lambda children: st.lists(children, max_size=4) | st.dictionaries(ANY_TEXT, children, max_size=4),
    max_leaves=8,
)
# Close to what is right, so that it gets past the first check.
RIGHT = {"consumer": "c", "event_id": "e", "failed_at": "2025-11-01T12:00:00Z", "error_message": "m"}
ALMOST = st.dictionaries(st.sampled_from(sorted(FIELDS)), ANY_JSON | ANY_TEXT, max_size=6).map(RIGHT.__or__)
# Also the names inside.
FOREIGN_NAMES = [
    *(
        "event",
        "event_id",
        "reason",
        "failed_queues",
        "moved_to_dlq_at",
        "retry_attempts",
        "bot_name",
        "error",
    ),
    *("originalTopic", "originalPayload", "originalOffset", "failedAt", "original_topic", "failed_at"),
    *("metadata", "payload", "body", "type", "data"),
]
FOREIGN = st.recursive(
    st.none() | NUMBERS | ANY_TEXT | TIMES | st.lists(st.integers(0, 300), max_size=3),
    lambda children: (
        st.dictionaries(st.sampled_from(FOREIGN_NAMES), children, max_size=8) | st.lists(children, max_size=2)
    ),
    max_leaves=12,
)
RECORD = st.fixed_dictionaries(
    {"event": FOREIGN, "failed_queues": st.lists(FOREIGN, max_size=2), "moved_to_dlq_at": TIMES},
    optional={"reason": FOREIGN, "event_id": ANY_TEXT, "retry_attempts": NUMBERS},
)
MESSAGE = st.fixed_dictionaries(
    {"originalTopic": ANY_TEXT, "failedAt": TIMES},
    optional={
        "originalPayload": FOREIGN,
        "originalEventId": ANY_TEXT,
        "metadata": FOREIGN,
        "originalOffset": FOREIGN,
    },
)
ITEM = ALMOST | ANY_JSON | FOREIGN | RECORD | MESSAGE
DEEP = st.integers(1, 2000).map(lambda n: b'[{"payload":' + b"[" * n + b"]" * n + b"}]")


def write(value: Any) -> bytes:
    # Python refuses to write such a number, as it refuses to read it.
    return json.dumps(value).encode().replace(b'"MANY DIGITS"', b"9" * 5000)


BODIES = (
    st.binary(max_size=200)
    | ITEM.map(write)
    | st.lists(ITEM, max_size=4).map(write)
    | st.lists(ITEM.map(write) | st.binary(max_size=20), max_size=4).map(b"\n".join)
    | st.lists(ITEM, min_size=1, max_size=2).map(lambda items: write(items)[:-1])
    | DEEP
)
TYPES = st.sampled_from(
    [
        "application/json",
        "application/x-ndjson",
        "text/plain",
        "application/json; charset=utf-7",
        "x" * 300,
        "a/b;c",
    ]
) | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30)
HEADERS = st.dictionaries(
    st.sampled_from(["Content-Encoding", "Transfer-Encoding", "Accept", "Cookie", "X-Forwarded-For"]),
    st.sampled_from(["gzip", "chunked", "identity", "-1", "9" * 30, "abc", ""])
    | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20),
    max_size=2,
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=BODIES,
    content_type=st.just("application/json") | st.just("application/x-ndjson") | TYPES,
    headers=HEADERS,
)
@example(body=b"[" * 100_000, content_type="application/json", headers={})
@example(body=b'{"consumer": "\\ud800\\u0000"}', content_type="application/json", headers={})
def test_whatever_is_sent_gets_an_answer_and_is_stored_whole_or_not_at_all(
    secret: str, body: bytes, content_type: str, headers: dict[str, str]
) -> None:
    with transaction.atomic():
        response = send(secret, body, content_type, headers)
        assert response.status_code in (202, 400, 411, 413, 415), response.content
        answer = response.json()
        stored = count()
        if response.status_code == 202:
            assert (stored["letters"] > 0) == (answer["recorded"] > 0)
            assert {type(one["index"]) for one in answer["refused"]} <= {int}
        else:
            assert stored["letters"] == 0
            assert answer.get("error") or all(one["reason"] for one in answer["refused"])
        assert stored["letters"] == stored["bodies"] == stored["tried"] == stored["ours"]
        # The same again: it is all there already.
        again = send(secret, body, content_type, headers)
        assert (again.status_code, again.content) == (response.status_code, response.content)
        assert count() == stored
        transaction.set_rollback(True)


def count() -> dict[str, int]:
    return {
        "letters": DeadLetter.objects.count(),
        "ours": DeadLetter.objects.filter(source="orders").count(),
        "bodies": LetterBody.objects.count(),
        "attempts": Attempt.objects.count(),
        "tried": Attempt.objects.values("letter_id").distinct().count(),
    }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    body=BODIES,
    content_type=TYPES,
    headers=HEADERS,
    authorization=st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=60)
    | st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=60).map("Bearer ".__add__),
)
def test_without_a_token_every_request_gets_the_same_answer(
    secret: str, body: bytes, content_type: str, headers: dict[str, str], authorization: str
) -> None:
    response = send(secret, body, content_type, headers | {"Authorization": authorization})
    assert response.status_code == 401
    assert response.json() == {"error": "Send a valid token: Authorization: Bearer TOKEN."}


def send(secret: str, body: bytes, content_type: str, headers: dict[str, str]) -> Any:
    # The minute is not what is asked here.
    Token.objects.update(window_at=None)
    client = Client(raise_request_exception=False)
    headers = {"Authorization": f"Bearer {secret}"} | headers
    return client.generic("POST", "/api/v1/failures", body, content_type, headers=headers)
