"""Replay to targets outside, against a real server and a real broker."""

import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import Client

from dashboard.models import Run
from dashboard.redis import get_redis
from dlq.models import Attempt, DeadLetter, LetterBody, LetterRunItem
from dlq.operations import ReplayRefused
from dlq.operations.edits import replace_payload
from dlq.queries.replay import preview_replay
from dlq.replay.options import ReplayOptions
from dlq.selection import Selection
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.server import Received, running_server
from tests.dlq.replay.test_deaths import tended_until
from tests.processes import running_worker
from tests.wait import until

Make = Callable[..., list[DeadLetter]]
Start = Callable[..., Run]
# For an answer that comes, on a machine that is busy; and for one that does not.
TIMEOUT, SHORT_TIMEOUT = 20, 0.4
# Of a worker that is stalled: it must be over before another takes its place.
LEASE = 6


@pytest.fixture
def server(settings: Any, patient_lanes: None) -> Iterator[Received]:
    with running_server() as other, running_server(elsewhere=other.url) as received:
        settings.TARGETS = {"orders-api": http(received.url)}
        settings.CONSUMERS = {"kafka/billing": {"target": "orders-api"}}
        yield received
        assert not other.events


def http(url: str, **more: Any) -> dict[str, Any]:
    return {"kind": "http", "url": url, "timeout_seconds": TIMEOUT, "secret": "s3cret", **more}


def letters(make: Make, *behaviours: int | str, **fields: Any) -> list[DeadLetter]:
    made = []
    for number, how in enumerate(behaviours):
        made += make(1, event_id=f"e{number}", payload={"how": how}, source="kafka", **fields)
    return made


def test_success_is_an_answer_and_each_try_carries_key_and_secret(
    server: Received, make_letters: Make, start: Start
) -> None:
    raw = b'{"how": 204,   "kept": "as it came"}'
    make_letters(1, payload=raw, source="kafka")
    assert totals(run_all(start())) == {"succeeded": 1}
    assert server.bodies == [raw]
    [headers] = server.headers
    assert (headers["Authorization"], headers["Redrive-Consumer"]) == ("s3cret", "billing")
    letter = DeadLetter.objects.get()
    assert (letter.status, letter.resolution) == ("resolved", "replayed")


def test_names_that_no_header_can_hold_are_sent_percent_encoded(
    server: Received, make_letters: Make, start: Start
) -> None:
    names = {"event_id": "größe 100 %", "event_type": "注文\nplaced"}
    make_letters(1, payload={"how": 200}, source="kafka", **names)
    assert totals(run_all(start())) == {"succeeded": 1}
    [headers] = server.headers
    assert headers["Redrive-Event-Id"] == "gr%C3%B6%C3%9Fe 100 %25"
    assert unquote(headers["Redrive-Event-Type"]) == names["event_type"]


@pytest.mark.parametrize(
    ("how", "category", "says"),
    [
        (500, "transient", "orders-api answered 500"),
        ("hang", "transient", "orders-api"),
        ("close", "transient", "orders-api did not answer"),
        (404, "permanent", "orders-api answered 404"),
        ("redirect", "permanent", "orders-api answered 307"),
        ("always busy", "transient", "orders-api answered 429"),
    ],
)
def test_each_way_to_fail_ends_as_it_should(
    server: Received,
    make_letters: Make,
    start: Start,
    settings: Any,
    how: int | str,
    category: str,
    says: str,
) -> None:
    if how == "hang":
        settings.TARGETS = {"orders-api": http(server.url, timeout_seconds=SHORT_TIMEOUT)}
    letters(make_letters, how)
    run = run_all(start())
    assert totals(run) == {"new_error": 1}
    attempt = Attempt.objects.get(run=run)
    assert (attempt.category, attempt.error_message.startswith(says)) == (category, True)
    assert DeadLetter.objects.get().status == "failed"
    assert len({key for _, key in server.events}) == 1


def test_a_replacement_that_fails_leaves_the_original_as_it_was(
    server: Received, make_letters: Make, start: Start
) -> None:
    [letter] = letters(make_letters, 404)
    replace_payload(letter, {"how": 422, "was": "mended"}, actor="olga", reason="a typo")
    assert totals(run_all(start())) == {"new_error": 1}
    assert json.loads(server.bodies[0]) == {"how": 422, "was": "mended"}
    assert LetterBody.objects.get().payload == {"how": 404}


def test_a_target_that_asks_for_patience_gets_it_and_no_attempt_is_counted(
    server: Received, make_letters: Make, start: Start
) -> None:
    letters(make_letters, "busy")
    run = run_all(start())
    assert totals(run) == {"succeeded": 1}
    assert not Attempt.objects.filter(run=run, outcome="failed").exists()
    assert len(server.events) == 2
    assert len({key for _, key in server.events}) == 1


@pytest.mark.parametrize(("how", "timeout"), [(500, TIMEOUT), ("hang", SHORT_TIMEOUT)])
def test_an_open_breaker_stops_the_lane_without_a_request_or_an_attempt_and_the_page_says_so(
    server: Received,
    make_letters: Make,
    start: Start,
    settings: Any,
    viewer: Client,
    how: int | str,
    timeout: float,
) -> None:
    settings.TARGETS = {"broken-api": http(server.url, timeout_seconds=timeout)}
    settings.CONSUMERS = {"kafka/billing": {"target": "broken-api"}}
    letters(make_letters, *[how] * 8)
    run = run_all(start(options=ReplayOptions(canary=False, stop_after=None, lanes=1)), rounds=2)
    assert totals(run) == {"new_error": 5}
    assert len(server.events) == 5
    assert run.lanes.get().not_before is not None
    assert run.state == "running"
    page = viewer.get(f"/runs/{run.pk}/").content.decode()
    assert re.search(
        r"The breaker broken-api is open; the next probe is in \d+ s\. .*; the run waits\.", page
    )
    place = "/breakers/breaker/?name=broken-api"
    assert f'<a href="{place}">See the breaker</a>' in page
    assert viewer.get(place).status_code == 200


def test_a_sequence_stops_at_its_first_failure_and_the_rest_is_held(
    server: Received, make_letters: Make, start: Start
) -> None:
    for number, how in enumerate((200, 404, 200)):
        make_letters(
            1,
            event_id=f"e{number}",
            payload={"how": how},
            source="kafka",
            sequence_key="s",
            sequence_no=number + 1,
        )
    assert totals(run_all(start())) == {"succeeded": 1, "new_error": 1, "held": 1}
    assert server.ids == ["e0", "e1"]


def test_what_the_target_took_a_moment_ago_is_left_out(
    server: Received, make_letters: Make, start: Start, everything: Callable[[], Selection]
) -> None:
    letters(make_letters, 200)
    run_all(start())
    DeadLetter.objects.update(status="failed", closed_at=None)
    assert preview_replay(everything()).left_out == {"recent": 1}


def test_there_is_no_dry_run_outside_and_a_consumer_without_target_is_left_out(
    server: Received, make_letters: Make, start: Start, everything: Callable[[], Selection]
) -> None:
    letters(make_letters, 200)
    with pytest.raises(ReplayRefused, match="cannot be undone"):
        start(options=ReplayOptions(canary=False, dry_run=True))
    make_letters(2, consumer="nobody", source="kafka")
    found = preview_replay(everything())
    assert (found.count, found.left_out, found.is_at_least_once) == (1, {"no_target": 2}, True)


def test_a_celery_target_stays_sent_and_never_claims_success(
    make_letters: Make, start: Start, settings: Any, patient_lanes: None
) -> None:
    broker = settings.CELERY_BROKER_URL
    settings.TARGETS = {
        "theirs": {
            "kind": "celery",
            "broker_url": broker,
            "task": "shop.handle",
            "queue": "theirs",
            "timeout_seconds": TIMEOUT,
        }
    }
    settings.CONSUMERS = {"kafka/billing": {"target": "theirs"}}
    for number in (1, 2):
        make_letters(
            1,
            event_id=f"e{number}",
            payload={"n": number},
            source="kafka",
            sequence_key="s",
            sequence_no=number,
        )
    run = run_all(start())
    assert totals(run) == {"sent": 1, "held": 1}
    assert set(DeadLetter.objects.values_list("status", flat=True)) == {"failed"}
    assert not LetterRunItem.objects.filter(is_active=True).exists()
    [message] = get_redis().lrange("theirs", 0, -1)
    assert json.loads(message)["headers"]["task"] == "shop.handle"


def test_a_worker_that_stalls_past_its_lease_sends_nothing_more(
    make_letters: Make, start: Start, settings: Any, tmp_path: Path
) -> None:
    """One is stopped in the middle, another takes over; the first wakes up and must keep silent."""
    with running_server(delay=0.05) as server:
        settings.RUN_LEASE_SECONDS = LEASE
        settings.TARGETS = {"orders-api": http(server.url, timeout_seconds=LEASE / 2)}
        settings.CONSUMERS = {"kafka/billing": {"target": "orders-api"}}
        environment = {
            "REDRIVE_CONFIG": write_config(tmp_path, server.url),
            "REDRIVE_RUN_LEASE_SECONDS": str(LEASE),
            "ORDERS_TOKEN": "s3cret",
        }
        letters(make_letters, *[200] * 60)
        run = start(options=ReplayOptions(canary=False, lanes=1))
        with running_worker(tmp_path / "first.log", **environment) as first:
            until(lambda: len(server.events) > 5)
            first.signal_all(signal.SIGSTOP)
            time.sleep(LEASE)
            with running_worker(tmp_path / "second.log", **environment):
                before = len(server.events)
                until(lambda: bool(tended(run)) and len(server.events) > before + 3)
                first.signal_all(signal.SIGCONT)
                tended_until(run, "finished")
        repeated = {event_id for event_id in server.ids if server.ids.count(event_id) > 1}
        # At most the one that was on its way when it was stopped.
        assert len(repeated) <= 1
        assert len(set(server.ids)) == 60
        assert len({key for _, key in server.events}) == 60
        assert totals(run) == {"succeeded": 60}


def write_config(directory: Path, url: str) -> str:
    path = directory / "redrive.toml"
    path.write_text(f"""
[targets.orders-api]
kind = "http"
url = "{url}"
timeout_seconds = {LEASE / 2}
secret = "env:ORDERS_TOKEN"

[consumers."kafka/billing"]
target = "orders-api"
""")
    return str(path)


def tended(run: Run) -> Run:
    from dashboard.runs.dispatch import tend_runs

    tend_runs()
    return run
