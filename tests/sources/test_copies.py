"""Letters whose event the broker has no longer say that they are the only copy."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from dashboard.config import read_config
from dashboard.env import Env
from dlq.api import record_failure
from dlq.models import DeadLetter, LetterBody

pytestmark = pytest.mark.django_db
SENTENCE = "The broker keeps events for 24 h, and this one is older."


def make_letter(*, hours: float, topic: str = "", source: str = "orders", event_id: str = "e1") -> str:
    failed_at = timezone.now() - timedelta(hours=hours)
    record_failure(
        source=source,
        consumer="OrderSummary",
        event_id=event_id,
        payload={"total": 1},
        topic=topic,
        error_message="no",
        failed_at=failed_at,
    )
    return f"/dead-letters/letters/{DeadLetter.objects.get(event_id=event_id).pk}/"


@pytest.fixture(autouse=True)
def configured(settings: Any) -> None:
    settings.SOURCES = {
        "orders": {"kind": "platform-services", "dsn": "postgresql://x", "retention_hours": 24}
    }
    settings.TOPIC_RETENTION = {"sensor-events": 24.0, "kept": 720.0}


@pytest.mark.parametrize(
    ("fields", "is_only_copy"),
    [
        ({"hours": 25}, True),
        ({"hours": 23}, False),
        # Of a topic that is kept longer, or shorter than nobody said.
        ({"hours": 25, "topic": "kept"}, False),
        ({"hours": 25, "topic": "sensor-events", "source": "pushed"}, True),
        ({"hours": 25, "topic": "other", "source": "pushed"}, False),
    ],
)
def test_a_letter_says_whether_it_is_the_only_copy(
    viewer: Client, fields: dict[str, Any], is_only_copy: bool
) -> None:
    assert (SENTENCE in viewer.get(make_letter(**fields)).content.decode()) is is_only_copy


def test_it_counts_from_the_first_failure(viewer: Client) -> None:
    address = make_letter(hours=25)
    make_letter(hours=1)
    assert SENTENCE in viewer.get(address).content.decode()


def test_a_letter_without_its_payload_is_no_copy(viewer: Client) -> None:
    address = make_letter(hours=25)
    LetterBody.objects.update(payload=None, payload_raw=None, payload_size=0)
    assert SENTENCE not in viewer.get(address).content.decode()


def test_nothing_is_said_where_nothing_is_known(viewer: Client, settings: Any) -> None:
    settings.SOURCES, settings.TOPIC_RETENTION = {}, {}
    assert "Only copy" not in viewer.get(make_letter(hours=2500)).content.decode()


PREVIEW = "/dead-letters/replay/confirm/?scope=matching"


def test_the_preview_of_a_replay_counts_those_that_it_takes(operator: Client, settings: Any) -> None:
    settings.CONSUMERS = {
        "orders/OrderSummary": {"target": "source"},
        "pushed/OrderSummary": {"target": "source"},
    }
    make_letter(hours=23, event_id="fresh")
    make_letter(hours=25, event_id="kept longer", topic="kept")
    make_letter(hours=25, event_id="gone")
    make_letter(hours=25, event_id="gone too", topic="sensor-events", source="pushed")
    make_letter(hours=25, event_id="without a payload")
    LetterBody.objects.filter(letter__event_id="without a payload").update(payload=None, payload_size=0)
    make_letter(hours=25, event_id="poison")
    DeadLetter.objects.filter(event_id="poison").update(tier="poison")
    page = operator.get(PREVIEW).content.decode()
    assert "<b>2</b> of them are the only copy: the broker no longer has the events." in page
    DeadLetter.objects.filter(event_id="gone").update(first_failed_at=timezone.now())
    page = operator.get(PREVIEW).content.decode()
    assert "<b>1</b> of them is the only copy: the broker no longer has the event." in page
    DeadLetter.objects.exclude(event_id="gone too").update(status="resolved")
    page = operator.get(PREVIEW).content.decode()
    assert "It is the only copy: the broker no longer has the event." in strip_tags(page)


def test_a_preview_says_nothing_where_nothing_is_known(operator: Client, settings: Any) -> None:
    settings.CONSUMERS = {"orders/OrderSummary": {"target": "source"}}
    make_letter(hours=2500)
    settings.TOPIC_RETENTION = {}
    settings.SOURCES = {"orders": {"kind": "platform-services", "dsn": "postgresql://x"}}
    page = operator.get(PREVIEW).content.decode()
    assert "sequence" in page
    assert "only copy" not in page


def read(text: str, directory: Path) -> dict[str, float]:
    path = directory / "redrive.toml"
    path.write_text(text)
    return read_config(path, Env({})).retention_hours


def test_a_topic_is_a_table_of_redrive_toml(tmp_path: Path) -> None:
    assert read('[topics."escrow.commands.v1"]\nretention_hours = 168', tmp_path) == {
        "escrow.commands.v1": 168.0
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[topics.x]\nretention_hours = '1 day'", "retention_hours is '1 day'; write hours"),
        ("[topics.x]\nretention_hours = 0", "retention_hours is 0; write hours"),
        (
            "[topics.x]\nretention_days = 1",
            "'retention_days', which means nothing; it may have retention_hours",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured) as raised:
        read(text, tmp_path)
    assert sentence in str(raised.value)
