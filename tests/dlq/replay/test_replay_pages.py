"""Replay through its pages: previewed, confirmed, shown; the five questions, and the switch."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from breakers.api import Policy, find_obstacles, get_breaker
from breakers.tasks import tend
from dashboard.models import AuditEntry, Run
from dlq.models import DeadLetter, FailureGroup
from tests.breakers.test_away import Line
from tests.dlq.replay.conftest import run_all, totals
from tests.markup import read_html


def read_form(html: str) -> dict[str, str]:
    """The hidden fields of a confirmation, as a browser would send them."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', html))


def confirm(client: Client, query: str) -> tuple[str, dict[str, str]]:
    html = read_html(client.get(f"{reverse('dlq:confirm_replay')}?{query}"))
    return html, read_form(html) | {"start": "canary", "stop_after": "5", "lanes": "4", "reason": "mended"}


def test_it_works_from_preview_to_page(
    operator: Client, fail: Callable[..., None], mend: Callable[..., None]
) -> None:
    fail("a", "b")
    mend()
    group = FailureGroup.objects.get()
    assert "Replay 2…" in read_html(operator.get(reverse("dlq:group", args=[group.pk])))
    html, form = confirm(operator, f"scope=group&group={group.pk}")
    assert "<h1>Replay 6 letters of letters?</h1>" in html
    assert "<b>2</b> sequences, each in order</span> <span><b>4</b> followers come along" in html
    # What stands there follows the start that is chosen.
    command = f"python3 manage.py replay --group {group.pk} --canary --no-canary --dry-run"
    assert command in strip_tags(html)
    answer = operator.post(reverse("dlq:replay"), form)
    run = Run.objects.get()
    assert answer["Location"] == reverse("runs:run", args=[run.pk])
    assert (run.requested_by, run.reason) == ("some-operator", "mended")
    assert totals(run_all(run)) == {"succeeded": 6}
    html = read_html(operator.get(reverse("runs:run", args=[run.pk])))
    assert "succeeded <b>6</b>" in html
    assert "it got as far as the rest" in html
    assert AuditEntry.objects.get(action="replay.start").details["count"] == 6


def test_it_rejects_get_and_a_viewer_may_not(
    viewer: Client, operator: Client, fail: Callable[..., None]
) -> None:
    fail("a")
    letter = DeadLetter.objects.get(status="failed")
    assert operator.get(reverse("dlq:replay")).status_code == 405
    assert viewer.get(f"{reverse('dlq:confirm_replay')}?id={letter.pk}").status_code == 403
    assert viewer.post(reverse("dlq:replay"), {"id": letter.pk, "count": 3}).status_code == 403
    assert "Replay…" not in read_html(viewer.get(reverse("dlq:letter", args=[letter.pk])))
    assert not Run.objects.exists()


def test_a_replay_of_nothing_is_refused_with_one_sentence(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a", events=1)
    letter = DeadLetter.objects.get()
    DeadLetter.objects.update(tier="poison")
    html, form = confirm(operator, f"id={letter.pk}")
    assert html.count("none of the selected letters can be replayed") == 1
    answer = operator.post(reverse("dlq:replay"), form)
    assert answer.status_code == 409
    assert read_html(answer).lower().count("none of the selected letters can be replayed") == 1
    assert not Run.objects.exists()


def test_twice_is_once(operator: Client, fail: Callable[..., None]) -> None:
    fail("a")
    _, form = confirm(operator, "scope=matching&consumer=letters")
    places = {operator.post(reverse("dlq:replay"), form)["Location"] for _ in range(2)}
    assert len(places) == Run.objects.count() == 1


def test_what_has_changed_is_asked_about_again(operator: Client, fail: Callable[..., None]) -> None:
    fail("a", "b")
    _, form = confirm(operator, "scope=matching&consumer=letters")
    DeadLetter.objects.filter(sequence_key="a", sequence_no=1).update(status="discarded")
    answer = operator.post(reverse("dlq:replay"), form)
    assert answer.status_code == 409
    assert "6 letters were confirmed, and now there are" in read_html(answer)
    assert not Run.objects.exists()


def test_what_was_parked_after_the_confirmation_does_not_take_the_place_of_what_was_closed(
    operator: Client,
    fail: Callable[..., None],
    pay: Callable[..., int],
    work: Callable[..., Any],
    start: Callable[..., Run],
) -> None:
    fail("a")
    run = run_all(start())
    assert totals(run) == {"same_error": 1, "held": 2}
    _, form = confirm(operator, f"scope=run&run={run.pk}")
    assert form["count"] == "3"
    DeadLetter.objects.filter(sequence_no=2).update(status="resolved")
    pay("a", 4)
    work("letters")
    answer = operator.post(reverse("dlq:replay"), form | {"acknowledged": "1"})
    assert answer.status_code == 409
    html = read_html(answer)
    # The page asks about the newer one too.
    told = "3 letters were confirmed, and now there are 2, or 3 with what came since. Nothing was changed."
    assert told in html
    assert "Replay 3 letters of letters?" in html
    assert Run.objects.count() == 1


def test_earlier_letters_can_be_included_and_poison_taken_along(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a")
    middle = DeadLetter.objects.get(sequence_no=2)
    html, _ = confirm(operator, f"id={middle.pk}")
    assert "1 open letter stands before them" in html
    html, _ = confirm(operator, f"id={middle.pk}&with_earlier=1")
    assert "Replay 3 letters" in html
    DeadLetter.objects.filter(sequence_no=1).update(tier="poison")
    html, _ = confirm(operator, f"id={middle.pk}")
    assert "1 open letter stands before them and cannot come along, being poison" in html
    assert f"?id={middle.pk}&amp;force=1" in html
    html, _ = confirm(operator, "scope=matching")
    assert "<b>1</b> left out: poison" in html
    html, form = confirm(operator, "scope=matching&force=1")
    assert "Replay 3 letters" in html
    answer = operator.post(reverse("dlq:replay"), form | {"reason": ""})
    assert answer.status_code == 409
    assert '<span class="error" role="alert">Say why poison' in read_html(answer)
    assert operator.post(reverse("dlq:replay"), form).status_code == 302


def field_error(label: str, name: str, sentence: str) -> str:
    """Right behind the label, and named by the field as what describes it."""
    sentence = sentence.replace("…", "It must be a whole number")
    return f'{label}</label><div id="id_{name}_error" role="alert"><p class="error">{sentence}'


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"pace": "quick"}, field_error("a second", "pace", "… from 1 to 100,000, or empty for unlimited.")),
        (
            {"stop_after": "0"},
            field_error("failures", "stop_after", "… from 1 to 1,000,000, or empty for never."),
        ),
        ({"lanes": "3"}, field_error("at most", "lanes", "There can be 1, 2 or 4 lanes.")),
        ({"start": "somehow"}, "&#x27;somehow&#x27; is not known; it can be canary, all, dry."),
    ],
)
def test_a_wrong_option_is_named_at_its_field(
    operator: Client, fail: Callable[..., None], wrong: dict[str, str], sentence: str
) -> None:
    fail("a")
    _, form = confirm(operator, "scope=matching")
    answer = operator.post(reverse("dlq:replay"), form | wrong)
    assert answer.status_code == 422
    html = read_html(answer)
    assert sentence in html
    assert "Nothing was started" in html
    assert 'value="mended"' in html
    assert not Run.objects.exists()


def test_many_letters_take_the_number_typed(
    operator: Client, fail: Callable[..., None], settings: pytest.FixtureRequest
) -> None:
    settings.TYPE_NUMBER_ABOVE = 2  # type: ignore[attr-defined]
    fail("a")
    _, form = confirm(operator, "scope=matching")
    answer = operator.post(reverse("dlq:replay"), form)
    html = read_html(answer)
    sentence = "To replay 3 letters, type that number."
    assert (answer.status_code, html.count(sentence)) == (422, 1)
    # At its field, which is where one goes on.
    assert (
        f'Type the number of letters, 3 <span class="error" role="alert">{sentence}</span> <input name="typed"'
        in html
    )
    assert html.count(" autofocus") == 1
    # Another number by now is another question, also where none would be typed for it.
    html = read_html(operator.post(reverse("dlq:replay"), form | {"count": "4"}))
    assert '<p class="message bad" role="alert">4 letters were confirmed, and now there are 3.' in html
    assert operator.post(reverse("dlq:replay"), form | {"typed": "3"}).status_code == 302


def test_later_events_are_acknowledged_on_the_page(
    operator: Client, fail: Callable[..., None], mend: Callable[..., None]
) -> None:
    fail("a")
    mend()
    DeadLetter.objects.filter(sequence_no__gt=1).update(status="resolved")
    html, form = confirm(operator, "scope=matching")
    assert "2 later events of this sequence were handled already, so it comes out of order" in html
    assert 'name="acknowledged" required' in html
    answer = operator.post(reverse("dlq:replay"), form)
    assert answer.status_code == 409
    sentence = "Nothing was started: that later events were handled already must be acknowledged."
    assert f'<p class="error" role="alert">{sentence}</p><label class="check">' in read_html(answer)
    assert operator.post(reverse("dlq:replay"), form | {"acknowledged": "on"}).status_code == 302


def test_breakers_in_the_way_are_counted_or_said_to_be_unknown(
    operator: Client, fail: Callable[..., None], settings: Any
) -> None:
    fail("a")
    html, _ = confirm(operator, "scope=matching")
    assert "<b>0</b> known breakers in the way" in html
    assert "manage.py replay --filter status=open --canary" in strip_tags(html)
    breaker = get_breaker("prices", Policy(failure_threshold=1), used_by="letters")
    with pytest.raises(ValueError, match="no"), breaker.call():
        raise ValueError("no")
    tend()
    html, _ = confirm(operator, "scope=matching")
    assert "<b>1</b> known breaker in the way" in html
    assert "The breaker prices is open; the next probe is in" in html
    assert '<a href="/breakers/breaker/?name=prices">See the breaker</a>' in html
    [obstacle] = find_obstacles(["prices"]) or []
    assert obstacle.retry_at
    due = replace(obstacle, now=obstacle.retry_at)
    assert due.sentence == "The breaker prices is open; the next call is a probe."
    line = Line(settings)
    line.cut()
    html, _ = confirm(operator, "scope=matching")
    line.mend()
    assert "in the way</span>" not in html
    assert "Redis does not answer, so nobody knows" in html


def test_events_are_offered_to_be_reprocessed_only_where_a_projection_handles_them(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a", events=1)
    letter = DeadLetter.objects.get()
    address = reverse("dlq:letter", args=[letter.pk])
    assert "Reprocess its events…" in read_html(operator.get(address))
    DeadLetter.objects.update(consumer="nobody-declares-this")
    assert "Reprocess its events…" not in read_html(operator.get(address))


def test_why_there_is_no_replay_is_said_of_open_letters_only(
    operator: Client, make_letters: Callable[..., list[DeadLetter]]
) -> None:
    [letter] = make_letters(1, consumer="nobody", source="kafka")
    address = reverse("dlq:letter", args=[letter.pk])
    assert "No replay. Nobody has said where" in read_html(operator.get(address))
    operator.post(
        reverse("dlq:resolve"),
        read_form(read_html(operator.get(f"{reverse('dlq:confirm_resolve')}?scope=letter&id={letter.pk}"))),
    )
    html = read_html(operator.get(address))
    assert "Restore…" in html
    assert "No replay." not in html
