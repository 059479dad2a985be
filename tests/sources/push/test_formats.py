"""Records of other systems, in the shapes in which their code writes them."""

import json
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse

from dlq.models import Attempt, DeadLetter

pytestmark = pytest.mark.django_db

Push = Callable[..., HttpResponse]

EVENT_ID = "01JCZ3V5Q8W2N4X6Y8Z0A2B4C6"


def make_record(**fields: Any) -> dict[str, Any]:
    """Queue-Keeper's FailedEventRecord, as serde writes it."""
    return {
        "event_id": EVENT_ID,
        "event": {
            "event_id": EVENT_ID,
            "provider": "github",
            "event_type": "pull_request",
            "action": "opened",
            "session_id": "acme/shop/pull_request/42",
            "correlation_id": "c-1",
            "received_at": "2025-11-01T11:59:58.000000001Z",
            "processed_at": "2025-11-01T11:59:59Z",
            "payload": {"number": 42},
        },
        "reason": {"type": "retries_exhausted", "attempts": 5},
        "failed_queues": [
            {
                "bot_name": "triage",
                "queue_name": "queue-keeper-triage",
                "error": "503",
                "was_transient": True,
            },
            {
                "bot_name": "merge",
                "queue_name": "queue-keeper-merge",
                "error": "no such",
                "was_transient": False,
            },
        ],
        "successful_queues": ["lint/queue-keeper-lint"],
        "retry_attempts": 5,
        "first_attempt_at": "2025-11-01T12:00:00Z",
        "moved_to_dlq_at": "2025-11-01T12:00:31.123456789Z",
        "correlation_id": "c-1",
    } | fields


def store(record: dict[str, Any]) -> dict[str, Any]:
    """The same as the blob holds it: bytes as numbers, inside the wrapper of a webhook."""
    about = {"event_id": EVENT_ID, "event_type": "pull_request", "signature_valid": True}
    return {
        "metadata": {"event_id": EVENT_ID, "blob_path": "webhook-payloads/year=2025/x.json", "size_bytes": 9},
        "payload": {"body": list(json.dumps(record, indent=2).encode()), "headers": {}, "metadata": about},
    }


@pytest.mark.parametrize("wrap", [make_record, lambda: store(make_record())], ids=["record", "stored"])
def test_a_record_of_queue_keeper_is_a_letter_for_each_failed_queue(push: Push, wrap: Any) -> None:
    for _ in range(2):
        assert push([wrap()]).json() == {"recorded": 1, "refused": []}
    triage, merge = DeadLetter.objects.order_by("-consumer")
    assert (triage.consumer, triage.topic) == ("triage/queue-keeper-triage", "queue-keeper-triage")
    assert (merge.consumer, merge.topic) == ("merge/queue-keeper-merge", "queue-keeper-merge")
    assert (triage.category, merge.category) == ("transient", "permanent")
    assert (merge.error_type, merge.summary, merge.attempts) == ("retries_exhausted", "no such", 6)
    for letter in (triage, merge):
        assert (letter.source, letter.event_id, letter.event_type) == ("orders", EVENT_ID, "pull_request")
        assert (letter.sequence_key, letter.trace_id) == ("acme/shop/pull_request/42", "c-1")
        assert letter.body.payload["payload"]["number"] == 42
        assert json.loads(letter.body.headers["successful_queues"]) == ["lint/queue-keeper-lint"]
        assert letter.first_failed_at.isoformat() == "2025-11-01T12:00:00+00:00"
        assert letter.last_failed_at.isoformat() == "2025-11-01T12:00:31.123456+00:00"
    assert Attempt.objects.count() == 2


def test_two_queues_of_one_bot_are_two_letters_also_when_one_of_them_fails_again_alone(push: Push) -> None:
    queues = [
        {"bot_name": "triage", "queue_name": "fast", "error": "503", "was_transient": True},
        {"bot_name": "triage", "queue_name": "slow", "error": "no such", "was_transient": False},
        {"bot_name": "merge", "error": "504", "was_transient": True},
    ]
    assert push(make_record(failed_queues=queues)).json() == {"recorded": 1, "refused": []}
    alone = [queues[1] | {"error": "still no such"}]
    push(make_record(failed_queues=alone, moved_to_dlq_at="2025-11-01T13:00:00Z"))
    assert set(DeadLetter.objects.values_list("consumer", "topic", "summary")) == {
        ("triage/fast", "fast", "503"),
        ("triage/slow", "slow", "still no such"),
        ("merge", "", "504"),
    }


def test_an_event_that_found_no_way_is_a_letter_of_queue_keeper(push: Push) -> None:
    push(make_record(failed_queues=[], reason={"type": "routing_error", "error": "no bot wants it"}))
    letter = DeadLetter.objects.get()
    assert (letter.consumer, letter.error_type, letter.summary) == (
        "queue-keeper",
        "routing_error",
        "no bot wants it",
    )


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (make_record(event=5), "event is not an object."),
        (make_record(reason={}), "reason has no type."),
        (make_record(failed_queues=[{}]), "failed_queues has one without bot_name."),
        (make_record(failed_queues=[{"bot_name": "a"}] * 101), "failed_queues is not an array of up to 100"),
        (make_record(failed_queues=[{"bot_name": "a", "error": 5}]), "failed_queues.error is not text."),
        (make_record(moved_to_dlq_at="now"), 'moved_to_dlq_at is "now"; write an ISO 8601'),
        (make_record(event_id=None), "event_id is missing"),
        (make_record(retry_attempts=-1), "retry_attempts is -1"),
        (make_record(first_attempt_at="now"), 'first_attempt_at is "now"; write an ISO 8601'),
        (store({"number": 42}), "payload.body is not a FailedEventRecord"),
        ({"metadata": {}, "payload": {"body": [256]}}, "payload.body is not an array of bytes."),
        ({"metadata": {}, "payload": {"body": "text"}}, "payload.body is not an array of bytes."),
        ({"metadata": {}, "payload": {"body": 10**12}}, "payload.body is not an array of bytes."),
        ({"metadata": {}, "payload": {"body": [123]}}, "payload.body: It is not JSON"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else "",
)
def test_a_record_that_makes_no_sense_is_refused(push: Push, record: Any, reason: str) -> None:
    assert push(record).json()["refused"][0]["reason"].startswith(reason)


def test_an_event_copied_for_many_queues_stays_in_bounds(push: Push, settings: Any) -> None:
    settings.PUSH_BODY_BYTES = 20_000
    queues = [{"bot_name": f"bot {n}", "error": "x"} for n in range(50)]
    large = make_record(event={"text": "x" * 10_000}, failed_queues=queues)
    for items, index in (([large, make_record()], 0), ([make_record(), large], 1)):
        answer = push(items).json()
        assert answer["recorded"] == 1
        assert [one["index"] for one in answer["refused"]] == [index]
        assert "one letter for each of its queues" in answer["refused"][0]["reason"]


PUBLISHED = {
    "originalTopic": "escrow.events.v1",
    "originalEventId": "evt-1",
    "originalAggregateId": "escrow-9",
    "originalEventType": "EscrowFunded",
    "originalPayload": {"type": "Buffer", "data": [0, 255, 10]},
    "errorType": "TRANSIENT",
    "errorMessage": "broker away",
    "retryCount": 4,
    "failedAt": "2025-11-01T12:00:00.000Z",
    "traceId": "t-1",
    "metadata": {"service": "outbox"},
}
DOCUMENTED = {
    "original_topic": "payments.commands.v1",
    "original_partition": "3",
    "original_offset": "9007199254740993",
    "original_payload": b64encode(b"\x00\xff").decode(),
    "error_type": "POISON",
    "error_message": "cannot be read",
    "retry_count": 2,
    "failed_at": "2025-11-01T12:00:00Z",
    "trace_id": "",
    "original_key": "escrow-9",
    "correlation_id": "c-9",
    "schema_version": 2,
}


def test_what_the_escrow_publisher_writes_is_a_letter_of_its_topic(push: Push) -> None:
    for _ in range(2):
        assert push(PUBLISHED).json() == {"recorded": 1, "refused": []}
    letter = DeadLetter.objects.get()
    assert (letter.consumer, letter.topic) == ("escrow.events.v1", "escrow.events.v1")
    assert (letter.event_id, letter.event_type, letter.sequence_key) == ("evt-1", "EscrowFunded", "escrow-9")
    assert (letter.category, letter.summary, letter.attempts) == ("transient", "broker away", 5)
    assert letter.trace_id == "t-1"
    assert bytes(letter.body.payload_raw) == b"\x00\xff\n"
    assert letter.body.headers == {"service": "outbox"}


@pytest.mark.parametrize("partition", ["3", 3])
def test_the_protobuf_message_in_jsons_spelling(push: Push, partition: Any) -> None:
    assert push(DOCUMENTED | {"original_partition": partition}).json() == {"recorded": 1, "refused": []}
    letter = DeadLetter.objects.get()
    assert (letter.event_id, letter.offset) == ("payments.commands.v1:3:9007199254740993", 9007199254740993)
    assert (letter.category, letter.tier, letter.attempts) == ("poison", "poison", 3)
    assert (letter.sequence_key, letter.trace_id) == ("escrow-9", "c-9")
    assert bytes(letter.body.payload_raw) == b"\x00\xff"
    assert letter.body.headers == {"schema_version": "2"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"originalTopic": ""}, "original_topic is missing"),
        ({"failedAt": None}, "failed_at is missing"),
        ({"originalPayload": {"type": "Buffer", "data": [256]}}, "original_payload is a Buffer"),
        ({"originalPayload": {"type": "Buffer", "data": 10**12}}, "original_payload is a Buffer"),
        ({"originalPayload": {"type": "Buffer"}}, "original_payload is a Buffer"),
        ({"originalPayload": "not base64!"}, "original_payload is"),
        ({"originalEventId": None, "originalPayload": None}, "Nothing says which event"),
        ({"metadata": {"a": 1}}, "metadata is"),
        ({"retryCount": "many"}, "retry_count is"),
    ],
)
def test_a_message_that_makes_no_sense_is_refused(push: Push, changes: Any, reason: str) -> None:
    assert push(PUBLISHED | changes).json()["refused"][0]["reason"].startswith(reason)


def test_all_formats_may_stand_side_by_side(push: Push) -> None:
    own = {"consumer": "c", "event_id": "e", "failed_at": "2025-11-01T12:00:00Z", "error_type": "E"}
    answer = push([own, make_record(), store(make_record()), PUBLISHED, DOCUMENTED]).json()
    assert answer == {"recorded": 5, "refused": []}
    assert DeadLetter.objects.count() == 5
