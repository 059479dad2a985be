"""What the preview of a replay says in its rarer states: many consumers, letters that stay, options given before."""

import re
import socketserver
from collections.abc import Callable
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from dashboard.models import Lane, Run
from dlq.management.sentences import describe_letters
from dlq.models import DeadLetter, LetterRunItem, Override
from dlq.operations import Done
from dlq.queries.replay import preview_replay
from dlq.selection import select_ids
from projections.models import Projection
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_replay_pages import confirm

Make = Callable[..., list[DeadLetter]]
Fail = Callable[..., None]


@pytest.fixture
def away(settings: Any) -> None:
    """Consumers outside, whose letters go to an address; nothing is sent in these tests."""
    settings.TARGETS = {
        "api": {"kind": "http", "url": "http://127.0.0.1:1/", "timeout_seconds": 1, "dedup_seconds": 300}
    }
    settings.CONSUMERS = {f"kafka/c{n}": {"target": "api"} for n in range(7)}


@pytest.mark.parametrize(
    ("consumers", "rest"), [(2, ""), (6, "and 1 more consumer"), (7, "and 2 more consumers")]
)
def test_several_consumers_are_named_up_to_five_and_the_rest_counted(
    operator: Client, make_letters: Make, away: None, consumers: int, rest: str
) -> None:
    for n in range(consumers):
        make_letters(1, source="kafka", consumer=f"c{n}", event_id=f"e{n}", event_type="Paid" if n else "")
    text = strip_tags(confirm(operator, "scope=matching")[0])
    assert f"Replay {consumers} letters of {consumers} consumers" in text
    assert text.count("c0 1") == 1
    assert f"Paid {consumers - 1}, 1 without a type" in text or "1 without a type, Paid 1" in text
    assert rest in text
    assert text.count("Goes to api: POST http://127.0.0.1:1/, behind the breaker api.") == 1
    assert ("more consumer" in text) is bool(rest)


def test_a_target_of_several_consumers_is_asked_once_how_it_is(make_letters: Make, settings: Any) -> None:
    """A broker that is away costs a second or two of the page, and not that for each consumer."""
    for n in range(5):
        make_letters(1, source="kafka", consumer=f"c{n}", event_id=f"e{n}")

    def count_asked(consumers: int) -> int:
        asked.clear()
        settings.CONSUMERS = {f"kafka/c{n}": {"target": "theirs"} for n in range(consumers)}
        found = preview_replay(select_ids(ids))
        assert (found.count, len(found.health)) == (consumers, 1)
        assert "Its broker does not answer" in found.health[0].sentence
        return len(asked)

    asked: list[Any] = []
    ids = list(DeadLetter.objects.values_list("pk", flat=True))
    with socketserver.TCPServer(("127.0.0.1", 0), lambda *peer: asked.append(peer)) as broker:
        Thread(target=broker.serve_forever, daemon=True).start()
        url = f"redis://127.0.0.1:{broker.server_address[1]}/0"
        settings.TARGETS = {
            "theirs": {"kind": "celery", "broker_url": url, "task": "shop.handle", "timeout_seconds": 1}
        }
        try:
            assert count_asked(5) == count_asked(1) > 0
        finally:
            broker.shutdown()


def test_how_long_it_takes_is_told_from_replays_that_were_long_enough(
    operator: Client, fail: Fail, mend: Callable[..., None], start: Callable[..., Run]
) -> None:
    fail("a", events=1)
    mend()
    run = run_all(start())
    Lane.objects.filter(run=run, number=0).update(totals={"succeeded": 100})
    Run.objects.update(started_at=timezone.now() - timedelta(seconds=200), ended_at=timezone.now())
    fail("b", events=5)
    html, _ = confirm(operator, "scope=matching")
    assert re.search(r"breakers in the way</span> <span>about \d+ s at full pace", html)


def test_why_letters_stay_is_said_with_their_number(
    operator: Client, make_letters: Make, away: None, start: Callable[..., Run], do: Callable[..., Done]
) -> None:
    def make(name: str, number: int = 1, **more: Any) -> list[int]:
        made = [
            make_letters(1, source="kafka", consumer="c1", event_id=f"{name}{n}", sequence_no=n, **more)
            for n in range(1, number + 1)
        ]
        return [letter.pk for [letter] in made]

    sent = make("sent", 2)
    start(select_ids(sent))
    LetterRunItem.objects.update(is_active=False, outcome="succeeded", at=timezone.now())
    DeadLetter.objects.filter(pk__in=make("unwanted")).update(offers_replay=False)
    do("erase", select_ids(make("gone")), 1)
    # The first of a sequence stays, so what stands behind it stays too.
    first, *_ = make("s", 3, sequence_key="s")
    DeadLetter.objects.filter(pk=first).update(tier="poison")
    html, _ = confirm(operator, "scope=matching")
    text = strip_tags(html)
    for sentence in (
        "2 left out: taken by their target a moment ago, which would drop them",
        "1 left out: not to be sent again as it is.",
        "1 left out: its payload was erased.",
        "1 left out: poison, or failed too many replays.",
        "2 left out: behind one that is left out.",
        "Replay poison and what is not to be sent again all the same; that takes a reason",
        "As it is, none of the selected letters can be replayed.",
    ):
        assert text.count(sentence) == 1
    DeadLetter.objects.filter(pk=first).update(tier="dead_letter")
    html, _ = confirm(operator, "scope=matching")
    assert ">Replay what is not to be sent again all the same; that takes a reason<" in html
    html, _ = confirm(operator, "scope=matching&force=1")
    assert "Replay 4 letters of c1?" in html
    assert "all the same" not in html
    assert "Among them: 1 not to be sent again as it is." in strip_tags(html)
    DeadLetter.objects.filter(sequence_key="s").update(tier="poison")
    text = strip_tags(confirm(operator, "scope=matching&force=1")[0])
    assert "Among them: 3 poison, 1 not to be sent again as it is." in text
    text = strip_tags(confirm(operator, f"scope=letter&id={first}&force=1")[0])
    assert "It is poison." in text


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (
            1,
            "1 open letter stands before it and cannot come along, as its payload was erased: "
            "what stands behind is held until it is settled.",
        ),
        (
            2,
            "2 open letters stand before it and cannot come along, as their payloads were erased: "
            "what stands behind is held until they are settled.",
        ),
    ],
)
def test_whoever_insists_is_told_that_only_what_was_erased_stays_in_front(
    operator: Client, make_letters: Make, away: None, number: int, sentence: str
) -> None:
    for n in range(1, number + 3):
        more = {"sequence_key": "s", "sequence_no": n}
        make_letters(1, source="kafka", consumer="c1", event_id=f"e{n}", **more)
    DeadLetter.objects.filter(sequence_no__lte=number).update(erased_at=timezone.now())
    DeadLetter.objects.filter(sequence_no=number + 1).update(tier="poison")
    last = DeadLetter.objects.get(sequence_no=number + 2)
    all_in_front = f"{number + 1} open letters stand before it and cannot come along, being poison, erased"
    assert all_in_front in confirm(operator, f"id={last.pk}")[0]
    html, _ = confirm(operator, f"id={last.pk}&force=1")
    assert sentence in html
    assert "Replay 1 letter of c1?" in html
    # What insisting takes along is offered, and insisting once more is not.
    assert "1 open letter stands before it and is not selected" in html
    assert "With poison" not in html


def test_all_that_is_in_runs_already_is_linked_to_them(
    operator: Client, fail: Fail, start: Callable[..., Run]
) -> None:
    runs = []
    for stream in "abcdef":
        fail(stream, events=1)
        runs.append(start())
    html, _ = confirm(operator, "scope=matching")
    text = strip_tags(html)
    named = ", ".join(str(run.pk) for run in runs[:5])
    assert f"6 letters are in runs {named} and 1 more, and left out." in text
    assert reverse("runs:run", args=[runs[0].pk]) in html
    fail("g", events=1)
    html, _ = confirm(operator, "scope=matching")
    assert "6 more letters are in runs" in html


@pytest.mark.parametrize("is_selected", [True, False])
def test_what_another_run_has_of_the_same_sequences_and_stands_before_is_told(
    operator: Client, make_letters: Make, away: None, start: Callable[..., Run], is_selected: bool
) -> None:
    def make(key: str, number: int) -> DeadLetter:
        name = f"{key}{number}"
        more = {"sequence_key": key, "sequence_no": number, "error_message": name}
        return make_letters(1, source="kafka", consumer="c1", event_id=name, **more)[0]

    first, second, third, last, other = (make(*place) for place in ("a1", "a2", "a3", "a4", "b1"))
    # What another run has behind them, or of another sequence, holds up none of them.
    run, *_ = [start(select_ids([letter.pk])) for letter in (first, last, other)]
    chosen = [second.pk, third.pk] + ([first.pk, last.pk] if is_selected else [])
    found = preview_replay(select_ids(chosen))
    assert (found.count, found.ahead, found.in_run_count) == (2, {run.pk: 1}, 2 if is_selected else 0)
    query = "&".join(f"id={pk}" for pk in chosen)
    told = (
        f"1 open letter stands before them and is in run {run.pk}: what stands behind is held, "
        "unless that run has settled it by then."
    )
    assert told in strip_tags(confirm(operator, query)[0])
    assert told.replace("that run has settled it", "it is settled") in list(describe_letters(found))
    held = run_all(start(select_ids(chosen)))
    assert totals(held) == {"held": 2}
    LetterRunItem.objects.filter(run=run).update(is_active=False)
    assert "stands before them and is in run" not in strip_tags(confirm(operator, query)[0])


def test_how_many_have_a_replaced_payload_is_told(
    operator: Client, fail: Fail, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail("a", "b", events=2)
    first, second, *_ = DeadLetter.objects.order_by("pk")

    def read(query: str = "scope=matching") -> str:
        return strip_tags(confirm(operator, query)[0])

    assert "has replaced" not in read()
    Override.objects.create(
        source="native", consumer="letters", event_id=first.event_id, kind="discarded", actor="olga"
    )
    # The same event of another consumer is another letter's.
    Override.objects.create(
        source="native", consumer="mailer", event_id=second.event_id, kind="replaced", actor="olga"
    )
    assert "has replaced" not in read()
    Override.objects.update(consumer="letters", kind="replaced", payload={"amount": 7})
    found = preview_replay(select_ids([first.pk, second.pk]))
    assert (found.count, found.replaced_count) == (4, 2)
    assert "Somebody has replaced the payload of 2 of them." in read()
    assert "Somebody has replaced the payload of 2 of them." in list(describe_letters(found))
    monkeypatch.setattr("dlq.queries.replay.MOST_REPLACED", 1)
    assert "Somebody has replaced the payload of over 1 of them." in read()
    DeadLetter.objects.filter(status="parked").delete()
    assert "Somebody has replaced its payload." in read(f"id={first.pk}")


def test_what_was_chosen_is_kept_when_something_is_wrong(operator: Client, fail: Fail) -> None:
    fail("a")
    _, form = confirm(operator, "scope=matching")
    for start in ("canary", "all", "dry"):
        answer = operator.post(reverse("dlq:replay"), form | {"start": start, "pace": "quick"})
        assert f'value="{start}" checked>' in answer.content.decode()
        assert (
            'name="pace" aria-invalid="true" aria-describedby="id_pace_error" autofocus'
            in answer.content.decode()
        )


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"reason": "x" * 1001}, "A reason can have at most 1,000 characters; this one has 1,001."),
        ({"start": ""}, "Choose how it starts: canary, all or dry."),
        ({"lanes": ""}, "There can be 1, 2 or 4 lanes."),
    ],
)
def test_what_no_browser_sends_is_answered_at_its_field_too(
    operator: Client, fail: Fail, wrong: dict[str, str], sentence: str
) -> None:
    fail("a")
    _, form = confirm(operator, "scope=matching")
    answer = operator.post(reverse("dlq:replay"), form | wrong)
    assert answer.status_code == 422
    assert re.search(f'class="error"[^>]*>{re.escape(sentence)}<', answer.content.decode())


def test_the_cursor_goes_to_the_start_if_that_is_wrong(operator: Client, fail: Fail) -> None:
    fail("a")
    html, form = confirm(operator, "scope=matching")
    focused = 'value="canary" checked autofocus>'
    assert focused not in html
    assert focused in operator.post(reverse("dlq:replay"), form | {"start": ""}).content.decode()


def test_a_consumer_that_is_being_rebuilt_is_no_place_to_replay_to(operator: Client, fail: Fail) -> None:
    fail("a")
    Projection.objects.filter(name="letters").update(state="rebuilding")
    html, form = confirm(operator, "scope=matching")
    sentence = "letters is being rebuilt, which handles its events anew; wait until it is done."
    assert f'<p class="message bad">{sentence}</p>' in html
    assert '<button class="btn primary" disabled>' in html
    answer = operator.post(reverse("dlq:replay"), form)
    # Once, although it is the reason and the state of the target too.
    assert (answer.status_code, answer.content.decode().count(sentence)) == (409, 1)
    assert f"Nothing was started: {sentence}" in answer.content.decode()
