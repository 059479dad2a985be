"""The pages that ask before all replays are stopped, and before they are allowed again."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Run
from dlq.operations import stop_replays

STOP, ALLOW = "dlq:confirm_stop_replays", "dlq:confirm_allow_replays"


def read(client: Client, name: str) -> str:
    return client.get(reverse(name)).content.decode()


def test_nothing_is_stopped_and_nothing_under_way(operator: Client) -> None:
    assert "No replay is under way now. None can be started until somebody allows them" in read(
        operator, STOP
    )
    assert "replays can be started, and those under way go on" in read(operator, ALLOW)


@pytest.mark.parametrize("reason", ["payments are down", "payments are down.", ""])
def test_who_stopped_them_and_why_is_said_before_they_are_allowed(operator: Client, reason: str) -> None:
    stop_replays(actor="olga", reason=reason)
    because = f"</time>{': ' if reason else ''}{reason.rstrip('.')}."
    html = read(operator, ALLOW)
    assert "<h1>Allow replays again?</h1>" in html
    assert "<p>olga stopped them <time" in html
    assert f"{because} No replay is waiting. New ones can be started." in html
    html = read(operator, STOP)
    assert "All replays are stopped already" in html
    assert f"{because}</p>" in html
    assert f'href="{reverse(ALLOW)}" data-dialog>Allow them again…</a>' in html


def test_what_waits_to_go_on_is_counted(
    operator: Client, fail: Callable[..., None], start: Callable[..., Run]
) -> None:
    fail("a", events=1)
    start()
    stop_replays(actor="olga")
    what = "<b>1</b> replay has not ended; unless it is paused as well, it goes on where it was."
    assert what in read(operator, ALLOW)


def test_so_many_that_counting_stops(
    operator: Client,
    fail: Callable[..., None],
    start: Callable[..., Run],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for place in ("dlq.queries.replay_run", "dlq.views.replay"):
        monkeypatch.setattr(f"{place}.MOST_COUNTED", 2)
    for stream in "abc":
        fail(stream, events=1)
        start()
    assert "<b>2</b> or more replays are under way or paused now." in read(operator, STOP)
    stop_replays(actor="olga")
    what = "<b>2</b> or more replays have not ended; those that are not paused as well go on where they were."
    assert what in read(operator, ALLOW)
