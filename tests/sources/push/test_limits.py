import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.utils import timezone

from dlq.models import DeadLetter
from sources.models import Token
from sources.tokens.operations import create_token

pytestmark = pytest.mark.django_db

Push = Callable[..., HttpResponse]
Make = Callable[..., dict[str, Any]]


def test_a_body_that_is_too_large_is_refused(push: Push, make_failure: Make, settings: Any) -> None:
    settings.PUSH_BODY_BYTES = 1000
    body = json.dumps([make_failure()]).encode()
    assert push(body + b" " * (1000 - len(body))).status_code == 202
    response = push(body + b" " * (1001 - len(body)))
    assert response.status_code == 413
    assert "1,000 bytes" in response.json()["error"]


@pytest.mark.parametrize("content_type", ["application/json", "application/x-ndjson"])
def test_more_than_a_thousand_are_refused(push: Push, make_failure: Make, content_type: str) -> None:
    many = [make_failure(event_id=str(n), attempts=n or 1) for n in range(1001)]
    body = json.dumps(many).encode() if content_type == "application/json" else to_lines(many)
    response = push(body, content_type)
    assert response.status_code == 413
    assert not DeadLetter.objects.exists()


def to_lines(many: list[Any]) -> bytes:
    return "\n".join(map(json.dumps, many)).encode()


def test_a_minute_that_is_full_takes_no_more(push: Push, make_failure: Make, settings: Any) -> None:
    settings.PUSH_PER_MINUTE = 5
    many = [make_failure(event_id=str(n)) for n in range(3)]
    assert [push(many).status_code for _ in range(3)] == [202, 202, 429]
    assert Token.objects.get().window_count == 6
    refused = push(b"nonsense")
    assert refused.status_code == 429
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert "its limit. Nothing of this request was recorded" in refused.json()["error"]
    # Those that are refused do not prolong the wait.
    assert Token.objects.get().window_count == 6
    Token.objects.update(window_at=timezone.now() - timedelta(seconds=61))
    assert push(many).status_code == 202
    assert Token.objects.get().window_count == 3


def test_a_batch_that_finds_the_minute_full_is_not_recorded(
    push: Push, make_failure: Make, settings: Any
) -> None:
    settings.PUSH_PER_MINUTE = 1
    assert push([make_failure(event_id=str(n)) for n in range(2)]).status_code == 429
    assert not DeadLetter.objects.exists()


def test_every_token_has_a_minute_of_its_own(push: Push, make_failure: Make, settings: Any) -> None:
    settings.PUSH_PER_MINUTE = 1
    other = f"Bearer {create_token('orders', actor='tests')[1]}"
    assert [push(make_failure()).status_code for _ in range(2)] == [202, 429]
    assert push(make_failure(), Authorization=other).status_code == 202


def test_a_body_that_is_nonsense_counts_too(push: Push, settings: Any) -> None:
    settings.PUSH_PER_MINUTE = 2
    assert [push(b"nonsense").status_code for _ in range(3)] == [400, 400, 429]


@pytest.mark.parametrize(
    ("content_type", "headers"),
    [
        ("", {}),
        ("text/plain", {}),
        ("application/x-www-form-urlencoded", {}),
        ("multipart/form-data; boundary=x", {}),
        ("application/json; charset=utf-16", {}),
        ("application/json", {"Content-Encoding": "gzip"}),
    ],
)
def test_other_kinds_of_content_are_refused_in_a_sentence(
    push: Push, make_failure: Make, content_type: str, headers: dict[str, str]
) -> None:
    response = push(make_failure(), content_type, **headers)
    assert response.status_code == 415
    assert "; " in response.json()["error"]
    assert not DeadLetter.objects.exists()


def test_utf_8_may_be_said(push: Push, make_failure: Make) -> None:
    assert push(make_failure(), "application/json; charset=UTF-8").status_code == 202


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b" \n", "The body is empty."),
        (b"\xef\xbb\xbf", "The body is not JSON"),
        (b"\xff", "The body is not JSON: byte 0 is not UTF-8."),
        (b"[{", "The body is not JSON: a name in quotes is missing, at character 2."),
        (b'{"a" 1}', "The body is not JSON: ':' is missing, at character 5."),
        (b'[{"a": 1}, ]', "The body is not JSON"),
        (b'{"a": 1,}', "The body is not JSON"),
        (b"{}\n{}", "The body is not JSON: it goes on after its end"),
        (b"[{}, " + b"[" * 100_000, "The body is not JSON: it is nested too deeply, and does not end"),
        (b'{"payload": ' + b"[" * 100_000, "It is nested too deeply to be read."),
    ],
)
def test_a_body_that_is_no_json_is_refused_as_a_whole(push: Push, body: bytes, sentence: str) -> None:
    response = push(body)
    assert response.status_code == 400
    assert response.json()["error"].startswith(sentence)
