"""A run's page leads to its letters, and says when it is no longer known which they were."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from dashboard.models import Run
from dlq.filters import LetterFilter
from dlq.models import DeadLetter, LetterRunItem
from dlq.operations import Done
from dlq.retention import KEEP_ITEMS_DAYS, purge
from dlq.selection import select_matching
from projections.models.event import Event
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_run_facts import DRY, read
from tests.markup import read_html
from tests.shop.models import Fault

Fail = Callable[..., None]
Start = Callable[..., Run]


def test_its_page_leads_to_its_letters_for_as_long_as_they_are_known(
    operator: Client, fail: Fail, mend: Callable[..., None], start: Start
) -> None:
    fail("a", "b", events=2)
    mend("a")
    run = run_all(start())
    fail("c")
    link = f"{reverse('dlq:letters')}?run={run.pk}&status=any"
    assert f'href="{escape(link)}">See its letters</a>' in read(operator, run)
    html = read_html(operator.get(link))
    assert "Exactly 4 letters match." in html
    found = set(map(int, re.findall(rf'href="{reverse("dlq:letters")}(\d+)/', html)))
    assert found == set(LetterRunItem.objects.filter(run=run).values_list("letter", flat=True))
    assert "Exactly 1 letter matches." in read_html(operator.get(link.replace("any", "open")))
    Run.objects.filter(pk=run.pk).update(ended_at=timezone.now() - timedelta(days=KEEP_ITEMS_DAYS))
    html = read(operator, run)
    assert "See its letters" not in html
    assert f"<dt>Its letters</dt><dd>which they were was known for {KEEP_ITEMS_DAYS} days</dd>" in html
    # What is not known is no empty list.
    answer = operator.get(link)
    assert answer.status_code == 400
    said = f"It is known for {KEEP_ITEMS_DAYS} days which letters a run had; run {run.pk} ended before that."
    assert said in answer.content.decode()
    assert "There is no run 999999." in operator.get(f"{reverse('dlq:letters')}?run=999999").content.decode()


def test_a_reprocessing_leads_to_the_letters_that_it_made(
    operator: Client, handled: None, reprocess: Callable[..., Run]
) -> None:
    Event.objects.filter(position=1).update(data={"amount": 2, "mark": "a"})
    Fault.objects.create(mark="a", how="KeyError")
    dry = run_all(reprocess(options=DRY, acknowledged=False, reason=""))
    run = run_all(reprocess())
    link = f"{reverse('dlq:letters')}?run={run.pk}&status=any"
    assert f'href="{escape(link)}">See the letters of its failures</a>' in read(operator, run)
    assert "Exactly 1 letter matches." in read_html(operator.get(link))
    assert "letters of its failures" not in read(operator, dry)


def test_a_run_that_closes_letters_leads_to_them(
    operator: Client,
    make_letters: Callable[..., list[DeadLetter]],
    do: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dlq.operations.letters.MOST_AT_ONCE", 5)
    make_letters(10)
    form = LetterFilter({}, user=None)
    assert form.is_valid()
    run = do("resolve", select_matching(form), 10).run
    assert run is not None
    assert f'{escape("?run=")}{run.pk}&amp;status=any">See its letters</a>' in read(operator, run)
    Run.objects.update(ended_at=timezone.now() - timedelta(days=KEEP_ITEMS_DAYS))
    assert f"Which letters it had was known for {KEEP_ITEMS_DAYS} days." in read(operator, run)


def purge_all(settings: Any) -> None:
    """As beat does it a month after all of them were closed."""
    settings.KEEP_CLOSED_DAYS = 30
    DeadLetter.objects.update(closed_at=timezone.now() - timedelta(days=31))
    purge()
    assert not DeadLetter.objects.exists()


def test_a_run_whose_letters_were_purged_says_so_and_leads_to_none(
    operator: Client,
    make_letters: Callable[..., list[DeadLetter]],
    do: Callable[..., Done],
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    monkeypatch.setattr("dlq.operations.letters.MOST_AT_ONCE", 5)
    make_letters(10)
    form = LetterFilter({}, user=None)
    assert form.is_valid()
    run = do("resolve", select_matching(form), 10).run
    assert run is not None
    assert totals(run_all(run)) == {"done": 10}
    said = "Its letters have been purged since: closed letters are kept for a set time only."
    assert said not in read(operator, run)
    purge_all(settings)
    html = read(operator, run)
    assert said in html
    assert "See its letters" not in html


def test_a_replay_whose_letters_were_purged_says_so_and_leads_to_none(
    operator: Client, fail: Fail, mend: Callable[..., None], start: Start, settings: Any
) -> None:
    fail("a", events=2)
    mend()
    run = run_all(start())
    said = "<dt>Its letters</dt><dd>purged since: closed letters are kept for a set time only</dd>"
    assert said not in read(operator, run)
    purge_all(settings)
    html = read(operator, run)
    assert said in html
    assert "See its letters" not in html
