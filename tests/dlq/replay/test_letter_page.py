"""The letter's page where the console runs the consumer: what the store has, what was replayed, what is erased."""

import re
from collections.abc import Callable

from django.test import Client

from dashboard.models import Run
from dlq.models import DeadLetter
from dlq.operations import Done
from dlq.selection import select_ids
from tests.dlq.replay.conftest import run_all

Fail = Callable[..., None]
Do = Callable[..., Done]


def read(client: Client, letter: DeadLetter) -> str:
    return client.get(f"/dead-letters/letters/{letter.pk}/").content.decode()


def test_the_payload_of_a_follower_is_in_the_store(viewer: Client, fail: Fail, do: Do) -> None:
    fail("a", events=2)
    follower = DeadLetter.objects.get(status="parked")
    assert "From the event store; there is no copy here." in read(viewer, follower)
    do("resolve", select_ids([follower.pk]), 1)
    assert "From the event store; there is no copy here." in read(viewer, follower)


def test_of_a_stack_trace_the_frames_of_handlers_stand_out_and_those_of_the_console_do_not(
    viewer: Client, fail: Fail
) -> None:
    fail("a", events=1)
    page = read(viewer, DeadLetter.objects.get())
    frames = re.findall(r'<span class="(own|foreign)">  File [^<]*?/(\w+/\w+\.py)', page)
    assert ("own", "shop/faults.py") in frames
    assert ("own", "shop/projections.py") in frames
    assert ("foreign", "runtime/handle.py") in frames


def test_a_try_that_succeeded_names_the_run(
    viewer: Client, fail: Fail, mend: Callable[..., None], start: Callable[..., Run]
) -> None:
    fail("a", events=1)
    mend()
    run = run_all(start())
    page = read(viewer, DeadLetter.objects.get())
    assert '<li class="good"><b>Succeeded</b>' in page
    assert f', <a class="nowrap" href="/runs/{run.pk}/">run {run.pk}</a>' in page
    assert "reprocessed from the event store" not in page


def test_an_erased_letter_is_not_edited(admin: Client, fail: Fail, do: Do) -> None:
    fail("a", events=1)
    letter = DeadLetter.objects.get()
    assert "Edit and replay…" in read(admin, letter)
    do("erase", select_ids([letter.pk]), 1)
    page = read(admin, letter)
    assert "Edit and replay…" not in page
    assert "Erase payload…" not in page
    assert "Resolve…" in page
