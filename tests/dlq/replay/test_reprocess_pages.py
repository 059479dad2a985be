"""Reprocessing from the page and from the command line."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from breakers.api import Policy, get_breaker
from breakers.tasks import tend
from dashboard.models import AuditEntry, Lane, Run
from dlq.models import DeadLetter
from dlq.operations import Done, allow_replays, stop_replays
from dlq.selection import select_ids
from projections.models import Projection
from tests.breakers.test_away import Line
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_replay_command import replay
from tests.dlq.replay.test_replay_pages import read_form


def read_text(client: Client, query: str) -> str:
    return strip_tags(client.get(f"{reverse('dlq:events')}?{query}").content.decode())


def test_it_works_from_the_page(operator: Client, handled: None) -> None:
    url = reverse("dlq:events")
    row = Projection.objects.get(name="letters")
    link = f"{url}?consumer=letters"
    assert link in operator.get(reverse("projections:projection", args=[row.pk])).content.decode()
    html = operator.get(f"{link}&stream=a&type=Paid").content.decode()
    assert "<h1>Reprocess 2 events of letters?</h1>" in html
    assert "repeats their effects" in html
    assert "Where later events of their stream were handled, they now come after them." in html
    html_of_one = operator.get(f"{link}&type=Refunded").content.decode()
    assert "Where later events of its stream were handled, it now comes after them." in html_of_one
    assert (
        "python3 manage.py replay --events letters --stream a --type Paid --canary --no-canary --dry-run "
        "--acknowledge --reason" in strip_tags(html)
    )
    form = read_form(html) | {"start": "canary", "stop_after": "5", "lanes": "4", "reason": "mended"}
    post = reverse("dlq:reprocess")
    answer = operator.post(post, form | {"reason": "x" * 1001})
    assert "A reason can have at most 1,000 characters; this one has 1,001." in answer.content.decode()
    assert answer.content.decode().count(" autofocus") == 1
    answer = operator.post(post, form | {"acknowledged": "on", "reason": " "})
    assert answer.status_code == 409
    sentence = "Say why these events are handled once more; it stays on record."
    assert (
        f'<span class="error" role="alert">{sentence}</span> <input name="reason"' in answer.content.decode()
    )
    assert operator.post(post, form).status_code == 409
    places = {operator.post(post, form | {"acknowledged": "on"})["Location"] for _ in range(2)}
    run = Run.objects.get()
    assert places == {reverse("runs:run", args=[run.pk])}
    assert totals(run_all(run)) == {"succeeded": 2}
    entry = AuditEntry.objects.filter(action="event.reprocess", outcome="succeeded").earliest("pk")
    assert (entry.details["count"], entry.details["stream"], entry.reason) == (2, "a", "mended")


def test_a_viewer_may_not_and_nonsense_is_named(viewer: Client, operator: Client, handled: None) -> None:
    assert viewer.get(reverse("dlq:events")).status_code == 403
    for query, status in (("", 200), ("consumer=nobody", 400), ("consumer=letters&since=soon", 400)):
        assert operator.get(f"{reverse('dlq:events')}?{query}").status_code == status
    html = operator.get(f"{reverse('dlq:events')}?consumer=letters&type=Nothing")
    assert (html.status_code, "Nothing" in html.content.decode()) == (400, True)


def test_what_was_handled_since_is_told_from_what_was_confirmed(
    operator: Client, handled: None, pay: Callable[..., int], work: Callable[..., Projection]
) -> None:
    url = f"{reverse('dlq:events')}?consumer=letters"
    form = read_form(operator.get(url).content.decode()) | {"start": "canary", "lanes": "4"}
    pay("z", 1)
    work("letters")
    form |= {"count": "9", "reason": "mended", "acknowledged": "on"}
    html = operator.post(reverse("dlq:reprocess"), form).content.decode()
    told = "9 events were confirmed, and now there are 5, or 6 with what came since. Nothing was changed."
    assert told in html
    assert "<h1>Reprocess 6 events of letters?</h1>" in html


def test_the_command_line_does_the_same(handled: None) -> None:
    said = replay("--events=letters", "--stream=a", "--yes", "--acknowledge", "--reason=mended")
    assert "Reprocess 3 events of letters: 1 stream, in order" in said
    assert totals(run_all(Run.objects.get())) == {"succeeded": 3}


def test_what_matches_nothing_or_no_projection_is_said(
    operator: Client, handled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    html = operator.get(f"{reverse('dlq:events')}?consumer=letters&stream=nobody").content.decode()
    assert "<h1>Nothing to reprocess</h1>" in html
    assert "Reprocess 0 events" not in html
    assert "No event that letters has handled matches what is chosen above." in html
    monkeypatch.setattr("dlq.forms.list_projectors", list)
    assert "No installed app declares a projection" in operator.get(reverse("dlq:events")).content.decode()


def test_a_time_range_that_ends_before_it_begins_is_refused(operator: Client, handled: None) -> None:
    times = "since=2026-11-02T00:00&until=2026-11-01T00:00"
    answer = operator.get(f"{reverse('dlq:events')}?consumer=letters&{times}")
    assert answer.status_code == 422
    assert 'role="alert">The time range ends before it begins.</p>' in answer.content.decode()


def test_what_is_left_out_and_why(
    operator: Client,
    handled: None,
    pay: Callable[..., int],
    work: Callable[..., Projection],
    do: Callable[..., Done],
) -> None:
    for stream, how in (("c", "breaker"), ("d", "ValueError"), ("e", "ValueError")):
        pay(stream, 1, mark=stream, how=how)
    for name in ("letters", "cache"):
        work(name)
    do("discard", select_ids([DeadLetter.objects.get(consumer="letters", sequence_key="e").pk]), 1)
    text = read_text(operator, "consumer=letters")
    for sentence in (
        "1 left out: it waits for a breaker",
        "1 left out: it has an open letter, or stands behind one; replay the letters",
        "1 left out: skipped or discarded by somebody",
    ):
        assert sentence in text
    pay("d", 2)
    work("letters")
    html = operator.get(f"{reverse('dlq:events')}?consumer=letters&stream=d").content.decode()
    assert "they have an open letter, or stand behind one" in html
    assert f"{reverse('dlq:letters')}?source=native&amp;consumer=letters&amp;sequence=d" in html
    assert "Nothing here can be reprocessed." in html
    assert "2 left out: skipped by the projection; bring them back first" in read_text(
        operator, "consumer=cache"
    )


def test_effects_outside_a_rebuild_many_events_and_the_switch_are_warned_of(
    operator: Client, handled: None, work: Callable[..., Projection], settings: Any
) -> None:
    settings.TYPE_NUMBER_ABOVE = 2
    work("mailer")
    text = read_text(operator, "consumer=mailer")
    assert "mailer may see an event more than once within this run too. Effects cannot be undone." in text
    assert "Not possible: mailer declares effects outside this database, which cannot be undone." in text
    assert "Type the number of events, 5" in text
    assert "Paid 4, Refunded 1" in text
    Projection.objects.filter(name="mailer").update(state="rebuilding")
    stop_replays(actor="olga")
    html = operator.get(f"{reverse('dlq:events')}?consumer=mailer").content.decode()
    assert '<p class="message bad">mailer is being rebuilt' in html
    assert '<button class="btn danger" disabled>' in html
    form = read_form(html) | {"start": "all", "stop_after": "5", "lanes": "4", "reason": "mended"}
    answer = operator.post(reverse("dlq:reprocess"), form)
    assert (answer.status_code, "type that number" in answer.content.decode()) == (422, True)
    html = operator.post(reverse("dlq:reprocess"), form | {"count": "6"}).content.decode()
    assert "6 events were confirmed, and now there are 5. Nothing was changed." in html
    allow_replays(actor="olga")
    answer = operator.post(reverse("dlq:reprocess"), form | {"acknowledged": "on", "typed": "5"})
    # Once, although it is the reason and the state of the target too.
    assert (answer.status_code, answer.content.decode().count("mailer is being rebuilt")) == (409, 1)


def test_a_dry_run_of_long_streams_says_before_it_starts_where_it_stops(
    operator: Client,
    handled: None,
    pay: Callable[..., int],
    work: Callable[..., Projection],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "Of each stream" not in read_text(operator, "consumer=letters")
    monkeypatch.setattr("dlq.targets.handler.BATCH_SIZE", 2)
    told = "Of each stream only the first 2 are tried; what comes after those is held, "
    assert f"{told}1 event in all" in read_text(operator, "consumer=letters")
    pay("a", 4)
    pay("b", 5)
    work("letters")
    assert f"{told}3 events in all" in read_text(operator, "consumer=letters")


def test_how_long_it_takes_is_told_and_without_redis_no_breaker_is_counted(
    operator: Client, handled: None, fail: Callable[..., None], start: Callable[..., Run], settings: Any
) -> None:
    fail("z", events=1)
    run = run_all(start())
    Lane.objects.filter(run=run, number=0).update(totals={"succeeded": 100})
    Run.objects.update(started_at=timezone.now() - timedelta(seconds=200), ended_at=timezone.now())
    breaker = get_breaker("prices", Policy(failure_threshold=1), used_by="letters")
    with pytest.raises(ValueError, match="no"), breaker.call():
        raise ValueError("no")
    tend()
    line = Line(settings)
    line.cut()
    text = read_text(operator, "consumer=letters")
    line.mend()
    assert re.search(r"up to position 6 about \d+ s at full pace", text)
    assert "Redis does not answer, so nobody knows which breakers are in the way." in text


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("type=Nothing", "&#x27;Nothing&#x27; is not among the types that it handles; tick those."),
        (f"stream={'x' * 701}", "A stream&#x27;s name can have at most 700 characters; this one has 701."),
    ],
)
def test_a_wrong_choice_is_answered_at_its_field(
    operator: Client, handled: None, query: str, sentence: str
) -> None:
    answer = operator.get(f"{reverse('dlq:events')}?consumer=letters&{query}")
    assert answer.status_code == 400
    assert f'<p class="error">{sentence}</p>' in answer.content.decode()
