"""What was sent is done only when somebody says so: by a result, a call back, a new failure, or not at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from celery.states import SUCCESS
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Lane, Run
from dashboard.runs.lanes import claim
from dashboard.runs.operations import cancel_run
from dlq import items
from dlq.api import Failure, record_failures
from dlq.models import Attempt, Confirmation, DeadLetter, LetterRunItem
from dlq.operations import Done
from dlq.queries.replay import preview_replay
from dlq.replay import confirming, kind
from dlq.replay.options import ReplayOptions
from dlq.selection import select_ids
from dlq.targets import Answer, celery
from dlq.targets.callbacks import make_token, make_url
from tests.dlq.replay.conftest import run_all, totals, warm_up
from tests.processes import Process, running_web
from tests.wait import until

Make = Callable[..., list[DeadLetter]]
Start = Callable[..., Run]
FORM = '--b\r\nContent-Disposition: form-data; name="outcome"\r\n\r\nsucceeded\r\n--b--\r\n'


@pytest.fixture
def theirs(settings: Any, monkeypatch: pytest.MonkeyPatch, patient_lanes: None) -> dict[str, Any]:
    """A Celery target that calls back; nobody takes its tasks unless a test starts somebody."""
    # In one process nobody answers while a lane waits.
    monkeypatch.setattr(confirming, "LIVELY", timedelta(0))
    target = {
        "kind": "celery",
        "broker_url": settings.CELERY_BROKER_URL,
        "task": "shop.handle",
        "queue": "theirs",
        "timeout_seconds": 20,
        "callback_url": "https://redrive.example",
    }
    settings.TARGETS, settings.CONSUMERS = {"theirs": target}, {"kafka/billing": {"target": "theirs"}}
    warm_up(settings.CELERY_BROKER_URL)
    return target


def sequence(make: Make, *behaviours: str, key: str = "s") -> list[DeadLetter]:
    made = []
    for number, how in enumerate(behaviours, start=1):
        place = {"sequence_key": key, "sequence_no": number, "event_id": f"{key}{number}"}
        made += make(1, payload={"how": how}, source="kafka", **place)
    return made


def sent_items(run: Run) -> list[LetterRunItem]:
    return list(LetterRunItem.objects.filter(run=run, outcome="sent", is_active=True).order_by("pk"))


def call_back(
    item: LetterRunItem, token: str = "", body: str = "", kind: str = "application/json", **said: Any
) -> tuple[int, dict[str, Any]]:
    """As the consumer would, without a session and with CSRF checks on."""
    answer = Client(enforce_csrf_checks=True).post(
        reverse("dlq:confirm_delivery", args=[item.pk]),
        body or said,
        content_type=kind,
        headers={"Authorization": f"Bearer {token or make_token(item.pk)}"},
    )
    return answer.status_code, answer.json()


def test_the_next_of_a_sequence_waits_until_the_one_before_is_confirmed(
    theirs: dict[str, Any], make_letters: Make, start: Start, operator: Client
) -> None:
    sequence(make_letters, "", "")
    sequence(make_letters, "", key="t")
    run = run_all(start(), rounds=2)
    assert (run.state, totals(run)) == ("running", {"sent": 2})
    html = operator.get(reverse("runs:run", args=[run.pk])).content.decode()
    assert "<strong>0</strong> of 3 done (0 %)" in html
    first, _ = sent_items(run)
    assert call_back(first, outcome="succeeded") == (200, {"delivery": first.pk, "outcome": "succeeded"})
    # The same again is the same, and the opposite is refused.
    assert call_back(first, outcome="succeeded")[0] == 200
    assert call_back(first, outcome="failed", error_type="Oops")[0] == 409
    run_all(run, rounds=2)
    assert totals(run) == {"succeeded": 1, "sent": 2}
    for item in sent_items(run):
        call_back(item, outcome="succeeded")
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"succeeded": 3})
    assert set(DeadLetter.objects.values_list("status", "resolution")) == {("resolved", "replayed")}
    assert Attempt.objects.filter(run=run, outcome="succeeded").count() == 3


def test_while_there_is_more_to_send_it_is_not_asked_at_every_send_what_has_been_heard(
    theirs: dict[str, Any], make_letters: Make, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "LOOK_SECONDS", 3600)
    for key in "abc":
        sequence(make_letters, "", key=key)
    run = start(options=ReplayOptions(canary=False, lanes=1))
    hold = claim(run.pk, 0, 0, holder="test")
    assert hold is not None
    for _ in range(3):
        kind.Replay().work(hold)
    assert totals(run) == {"sent": 3}
    assert "asked_to" not in run.lanes.get().cursor
    for item in sent_items(run):
        call_back(item, outcome="succeeded")
    kind.Replay().work(hold)
    assert totals(run) == {"succeeded": 3}


def test_a_failure_that_is_called_back_is_an_attempt_and_holds_what_follows(
    theirs: dict[str, Any], make_letters: Make, start: Start
) -> None:
    sequence(make_letters, "", "")
    run = run_all(start(), rounds=2)
    [item] = sent_items(run)
    call_back(
        item, outcome="failed", error_type="OrderRefused", error_message="no such order", stacktrace="at x"
    )
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"new_error": 1, "held": 1})
    attempt = Attempt.objects.get(run=run)
    assert (attempt.error_type, attempt.error_message) == ("OrderRefused", "no such order")
    letter = DeadLetter.objects.get(sequence_no=1)
    assert (letter.status, letter.error_type, letter.replays) == ("failed", "OrderRefused", 1)
    assert letter.body.payload == {"how": ""}


def test_erasing_takes_what_was_called_back_along(
    theirs: dict[str, Any], make_letters: Make, start: Start, do: Callable[..., Done]
) -> None:
    [letter] = sequence(make_letters, "")
    [item] = sent_items(run_all(start(), rounds=2))
    call_back(item, outcome="failed", error_type="OrderRefused", error_message="no alice", stacktrace="alice")
    run_all(item.run)
    do("erase", select_ids([letter.pk]), 1)
    assert list(Confirmation.objects.values_list("error_type", "error_message", "stacktrace")) == [
        ("OrderRefused", "", "")
    ]


@pytest.mark.parametrize(
    ("error_type", "message", "outcome"),
    [("ValueError", "bad total", "same_error"), ("KeyError", "currency", "new_error")],
)
def test_a_new_failure_of_the_event_ends_it_too(
    theirs: dict[str, Any], make_letters: Make, start: Start, error_type: str, message: str, outcome: str
) -> None:
    sequence(make_letters, "")
    run = run_all(start(), rounds=2)
    told = {"consumer": "billing", "event_id": "s1", "source": "kafka", "failed_at": timezone.now()}
    record_failures([Failure(**told, error_type=error_type, error_message=message)])
    assert totals(run_all(run)) == {outcome: 1}
    assert DeadLetter.objects.get().replays == 1


def test_what_nobody_confirms_ends_as_unconfirmed_and_never_as_success(
    theirs: dict[str, Any], make_letters: Make, start: Start, everything: Callable[[], Any]
) -> None:
    sequence(make_letters, "", "")
    run = run_all(start(), rounds=2)
    LetterRunItem.objects.filter(run=run, outcome="sent").update(at=timezone.now() - timedelta(seconds=901))
    run_all(run)
    assert (run.state, totals(run)) == ("finished", {"unconfirmed": 1, "held": 1})
    assert set(DeadLetter.objects.values_list("status", flat=True)) == {"failed"}
    assert preview_replay(everything()).left_out == {"recent": 1, "behind": 1}
    # Better known late than never: the letter is settled, and the run says so.
    item = LetterRunItem.objects.get(run=run, outcome="unconfirmed")
    assert call_back(item, outcome="succeeded")[0] == 200
    assert totals(run) == {"succeeded": 1, "held": 1}
    assert DeadLetter.objects.get(sequence_no=1).resolution == "replayed"


def test_what_was_sent_by_a_cancelled_run_stays_sent(
    theirs: dict[str, Any], make_letters: Make, start: Start
) -> None:
    sequence(make_letters, "", "")
    run = run_all(start(), rounds=2)
    cancel_run(run, actor="olga", reason="no")
    items.release_ended()
    outcomes = LetterRunItem.objects.filter(run=run).order_by("pk").values_list("outcome", "is_active")
    assert list(outcomes) == [("sent", False), ("not done", False)]
    assert totals(run) == {"sent": 1}
    item = LetterRunItem.objects.get(run=run, outcome="sent")
    assert call_back(item, outcome="failed", error_type="OrderRefused")[0] == 200
    assert totals(run) == {"new_error": 1}
    assert DeadLetter.objects.get(sequence_no=1).error_type == "OrderRefused"


def test_what_was_closed_meanwhile_stays_as_it_was_closed(
    theirs: dict[str, Any], make_letters: Make, start: Start
) -> None:
    sequence(make_letters, "")
    run = run_all(start(), rounds=2)
    DeadLetter.objects.update(status="discarded", closed_by="olga", closed_at=timezone.now())
    call_back(*sent_items(run), outcome="succeeded")
    assert totals(run_all(run)) == {"skipped": 1}
    assert DeadLetter.objects.get().closed_by == "olga"


def test_the_ladder_climbs_when_its_first_is_confirmed_and_pauses_when_it_failed(
    theirs: dict[str, Any], make_letters: Make, start: Start
) -> None:
    for key in "abc":
        sequence(make_letters, "", key=key)
    run = run_all(start(options=ReplayOptions(canary=True)), rounds=3)
    assert totals(run) == {"sent": 1}
    call_back(*sent_items(run), outcome="failed", error_type="OrderRefused")
    run_all(run)
    assert (run.state, totals(run)) == ("paused", {"new_error": 1})


@pytest.mark.parametrize(
    ("token", "said", "status"),
    [
        ("wrong", {"outcome": "succeeded"}, 403),
        ("", {"outcome": "perhaps"}, 422),
        ("", {"outcome": "failed", "error_type": 7}, 422),
        ("", {"outcome": "failed", "stacktrace": "x" * 100_001}, 422),
        ("", {"body": "["}, 422),
        ("", {"body": "[" * 50_000}, 422),
        ("", {"body": FORM, "kind": "multipart/form-data; boundary=b"}, 422),
    ],
)
def test_a_call_back_without_its_token_or_without_sense_is_refused(
    theirs: dict[str, Any], make_letters: Make, start: Start, token: str, said: dict[str, Any], status: int
) -> None:
    sequence(make_letters, "")
    run = run_all(start(), rounds=2)
    assert call_back(*sent_items(run), token=token, **said)[0] == status
    assert not Confirmation.objects.exists()
    assert not Lane.objects.filter(run=run, totals__has_key="succeeded").exists()


def test_a_call_back_may_hold_half_a_character_or_a_nul(
    theirs: dict[str, Any], make_letters: Make, start: Start
) -> None:
    sequence(make_letters, "")
    run = run_all(start(), rounds=2)
    said = {"error_type": "OrderRefused\0", "error_message": "cut in half: \ud83d"}
    assert call_back(*sent_items(run), outcome="failed", **said)[0] == 200
    assert totals(run_all(run)) == {"new_error": 1}
    attempt = Attempt.objects.get(run=run)
    assert (attempt.error_type, attempt.error_message) == ("OrderRefused␀", "cut in half: \ufffd")


def test_the_address_that_is_sent_along_is_the_one_that_answers() -> None:
    address = reverse("dlq:confirm_delivery", args=[7])
    assert make_url("https://redrive.example/", 7) == f"https://redrive.example{address}"


def test_a_delivery_that_is_gone_is_not_found(transactional_db: None) -> None:
    assert call_back(LetterRunItem(pk=77), outcome="succeeded")[0] == 404


@contextmanager
def their_worker(log: Path, **environment: str) -> Iterator[None]:
    options = ["worker", "-Q", "theirs", "-c", "1", "--without-gossip", "--without-mingle"]
    process = Process("-m", "celery", "-A", "tests.dlq.replay.receiver", *options, log=log, **environment)
    try:
        until(lambda: "ready" in log.read_text())
        yield
    finally:
        process.kill()


@pytest.mark.filterwarnings("ignore:Call to deprecated setex")  # Celery's own
def test_a_slow_result_backend_is_asked_for_a_bounded_time_and_each_result_has_its_turn(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(celery, "ASK_SECONDS", 0)
    url = settings.CELERY_BROKER_URL
    target = celery.CeleryTarget(name="slow", broker_url=url, task="shop.handle", result_backend=url)
    backend = celery.get_app(url, url).backend
    for item_id in range(5):
        backend.store_result(celery.make_task_id(item_id), "done", SUCCESS)
    heard: set[int] = set()
    for _ in range(200):
        said = target.ask(range(5))
        assert list(said.values()) == [Answer.DONE]
        heard |= said.keys()
    assert heard == set(range(5))


@pytest.mark.parametrize("how", ["result", "callback"])
def test_a_real_worker_confirms_by_result_and_by_calling_back(
    theirs: dict[str, Any], make_letters: Make, start: Start, settings: Any, tmp_path: Path, how: str
) -> None:
    broker = settings.CELERY_BROKER_URL
    environment = {"THEIR_BROKER": broker} | ({"THEIR_BACKEND": broker} if how == "result" else {})
    sequence(make_letters, "", "", "refuse", "")
    with running_web(tmp_path / "web.log") as console, their_worker(tmp_path / "their.log", **environment):
        own = (
            {"callback_url": console} if how == "callback" else {"result_backend": broker, "callback_url": ""}
        )
        settings.TARGETS = {"theirs": theirs | own}
        run = start()
        until(lambda: run_all(run, rounds=5).state == "finished")
    assert totals(run) == {"succeeded": 2, "new_error": 1, "held": 1}
    attempt = Attempt.objects.get(run=run, outcome="failed")
    assert (attempt.error_type, attempt.error_message) == ("OrderRefused", "no such order")
