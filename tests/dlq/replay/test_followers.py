"""What becomes of followers when their head is discarded or resolved: they drain, or they stay, as was chosen."""

import threading
from collections.abc import Callable
from pathlib import Path

from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEntry, Run
from dashboard.runs.dispatch import tend_runs
from dlq.models import DeadLetter
from dlq.operations import replay_followers, stop_replays
from projections.models import Projection
from projections.store import NewEvent, append, get_head
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_replay_pages import read_form
from tests.processes import Process, running_worker
from tests.shop.models import Applied, Fault
from tests.wait import until


def discard(client: Client, query: str, followers: str) -> int:
    html = client.get(f"{reverse('dlq:confirm_discard')}?{query}").content.decode()
    form = read_form(html) | {"followers": followers, "reason": "given up"}
    return client.post(reverse("dlq:discard"), form).status_code


def test_followers_of_many_heads_are_replayed_when_the_last_is_closed(
    operator: Client, fail: Callable[..., None], applied: Callable[[str], list[int]]
) -> None:
    fail("a", "b", "c", "d", "e")
    assert discard(operator, "scope=matching&consumer=letters", "replay") == 302
    closing = Run.objects.get()
    assert closing.title == "Discard 5 letters"
    run_all(closing)
    replay = Run.objects.get(kind="replay")
    assert closing.events.filter(note=f"Run {replay.pk} replays their followers.").count() == 1
    assert (replay.requested_by, replay.reason, replay.title) == (
        "some-operator",
        "given up",
        "Replay 10 letters of letters",
    )
    # A lane that died after it had started it does so again, and it is the same.
    replay_followers(closing)
    assert Run.objects.count() == 2
    assert totals(run_all(replay)) == {"succeeded": 10}
    assert sorted(applied("letters")) == [n for n in range(1, 16) if n % 3 != 1]
    assert set(DeadLetter.objects.values_list("status", flat=True)) == {"discarded", "resolved"}


def test_if_no_replay_can_be_started_the_run_says_so_and_they_stay(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a")
    stop_replays(actor="olga", reason="payments are down")
    discard(operator, "scope=matching&consumer=letters", "replay")
    closing = run_all(Run.objects.get())
    assert closing.state == "finished"
    said = "Their followers stay parked. Nothing was started. All replays have been stopped by olga since"
    assert closing.events.filter(note__startswith=said).count() == 1
    assert DeadLetter.objects.filter(status="parked").count() == 2


def test_where_nothing_is_parked_nothing_is_started_and_nothing_said(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a", events=1)
    discard(operator, "scope=matching&consumer=letters", "replay")
    closing = run_all(Run.objects.get())
    assert closing.state == "finished"
    assert Run.objects.count() == 1
    assert not closing.events.filter(note__contains="followers").exists()


def test_who_may_not_replay_may_not_have_followers_replayed(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a")
    Permission.objects.get(codename="replay.start").group_set.clear()
    assert discard(operator, "scope=matching&consumer=letters", "replay") == 403
    assert not AuditEntry.objects.filter(action="letter.discard").exists()
    assert discard(operator, "scope=matching&consumer=letters", "wait") == 302


class Traffic:
    """Events for both streams, without a pause, until it is told to end."""

    def __init__(self) -> None:
        self.is_over = threading.Event()
        self.number = 0
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        while not self.is_over.is_set():
            for stream in ("drains", "stays"):
                append(stream, [NewEvent("Paid", {"amount": self.number})])
            self.number += 1
        connection.close()


def test_under_continuous_live_load_followers_drain_or_stay_as_chosen(
    operator: Client, tmp_path: Path
) -> None:
    for stream in ("drains", "stays"):
        Fault.objects.create(mark=stream, how="ValueError")
        append(stream, [NewEvent("Paid", {"amount": 0, "mark": stream})])
    traffic = Traffic()
    consumer = Process("manage.py", "consume", "letters", log=tmp_path / "consume.log")
    traffic.thread.start()
    try:
        with running_worker(tmp_path / "worker.log"):
            until(lambda: DeadLetter.objects.filter(status="parked").count() > 50)
            for stream, followers in (("drains", "replay"), ("stays", "wait")):
                head = DeadLetter.objects.get(status="failed", sequence_key=stream)
                assert discard(operator, f"id={head.pk}", followers) == 302

            def has_drained() -> bool:
                tend_runs()
                open_ones = DeadLetter.objects.filter(sequence_key="drains", status__in=["failed", "parked"])
                return Run.objects.filter(kind="replay", state="finished").exists() and not open_ones.exists()

            # While events keep coming: the replay catches up with live consumption, which then goes on by itself.
            until(has_drained, 60)
            handled = Applied.objects.filter(stream="drains").count()
            until(lambda: Applied.objects.filter(stream="drains").count() > handled + 20)
            traffic.is_over.set()
            traffic.thread.join()
            until(lambda: Projection.objects.get(name="letters").position == get_head())
    finally:
        traffic.is_over.set()
        consumer.kill()
    last = traffic.number + 1
    versions = Applied.objects.filter(stream="drains").order_by("id").values_list("version", flat=True)
    assert list(versions) == list(range(2, last + 1))
    assert not Applied.objects.filter(stream="stays").exists()
    assert DeadLetter.objects.filter(sequence_key="stays", status="parked").count() == last - 1
