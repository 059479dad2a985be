"""The pages of a projection that others run, in the states that are rare."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Run
from projections.foreign.record import forget
from projections.models import ForeignProjection
from tests.dlq.replay.conftest import totals
from tests.markup import read_html
from tests.sources.keepers import FRESH, NAME, OTHER_TYPE, RESTED, EventsourcePy

Look = Callable[[], ForeignProjection]
Reset = Callable[[ForeignProjection], Run]


def show(client: Client, row: ForeignProjection) -> str:
    address = reverse("projections:foreign", args=[row.pk])
    return " ".join(read_html(client.get(address)).split())


def show_list(client: Client) -> str:
    return read_html(client.get(reverse("projections:projections")))


def show_run(client: Client, run: Run) -> str:
    return read_html(client.get(reverse("runs:run", args=[run.pk])))


def test_a_reset_from_its_run_to_its_end(
    bank: EventsourcePy, look: Look, reset: Reset, admin: Client
) -> None:
    bank.save(bank.append())
    with bank.working():
        row = look()
    row = look()
    run = reset(row)
    assert totals(run) == {"reset": 1}
    html = show_run(admin, run)
    assert "It was reset and has no checkpoint: its worker will begin at the first event." in html
    assert f"See {row}" in html
    row = look()
    html = show(admin, row)
    assert "It was reset and has no checkpoint" in html
    assert f"See run {run.pk}" in html
    assert "<dt>Stands at</dt><dd>no checkpoint</dd>" in html
    assert "There is no checkpoint to reset." in html
    # Nothing is told of the checkpoint that was deleted as if it were there.
    assert "<dt>Last written</dt>" not in html
    assert "Without a checkpoint there is nothing to look for." in html
    assert "It has no checkpoint: all events are ahead of it." not in html
    assert 'title="It has no checkpoint: all events are ahead of it."' in show_list(admin)
    # At the head again at once: its worker was not stopped.
    bank.save(bank.append(), age=FRESH)
    row = look()
    assert row.reset["verdict"] == "undone"
    sentence = "the reset is undone: stop it and reset again."
    html = show(admin, row)
    assert f'class="message bad"><span>{row.reset["sentence"]}' in html
    assert '</span> <span class="badge bad">Reset undone</span>' in html
    assert "<dt>Last written</dt>" in html
    html = show_run(admin, run)
    assert sentence in html
    assert "finished; 1 checkpoint reset, but it seems undone</h1>" in html
    # Above, and in what happened.
    assert html.count('<span class="badge warn">Finished</span>') == 2
    html = show_list(admin)
    assert "<h1>bank/balances: reset undone</h1>" in html
    assert ">Reset undone</span>" in html
    # The projection is no more: the run is still there to be read.
    ForeignProjection.objects.update(has_checkpoint=False, moved_at=timezone.now() - timedelta(days=8))
    forget()
    html = show_run(admin, run)
    assert run.title in html
    assert f"See {row}" not in html


def test_a_refused_reset_says_why_on_its_run(
    bank: EventsourcePy, look: Look, reset: Reset, admin: Client
) -> None:
    event = bank.append()
    bank.save(event)
    with bank.working():
        row = look()
        run = reset(row)
    assert "Refused, and nothing was changed." in show_run(admin, run)
    html = show(admin, row)
    assert re.search(
        r'The last one, at <span class="nowrap">\d\d:\d\d UTC</span>, changed nothing. The reason then was “Stop its',
        html,
    )
    assert f"See run {run.pk}" in html
    assert ">Started</span>" in html


def test_a_lag_that_is_a_bound_says_so(bank: EventsourcePy, look: Look, viewer: Client) -> None:
    bank.save(bank.append())
    for _ in range(3):
        bank.append(OTHER_TYPE)
    row = look()
    assert row.lag_bound == "at_most"
    assert '<p class="n"><small>at most</small> 3</p><p class="d">events that it has not come to</p>' in show(
        viewer, row
    )
    assert "at most 3" in show_list(viewer)


def test_of_many_lost_events_the_first_are_named(bank: EventsourcePy, look: Look, viewer: Client) -> None:
    for number in range(26):
        event_id = bank.append()
        if number < 5:
            bank.add_letter(event_id, age=RESTED)
    bank.save(event_id)
    row = look()
    assert row.unaccounted["number"] == 21
    html = show(viewer, row)
    assert "The first 20 of 21." in html
    assert '<span class="badge warn">21 unaccounted</span>' in html
    assert "<b>21 events may be lost.</b></p>" in html
    assert "<code>Paid</code> of stream <code>" in html


@pytest.mark.django_db
def test_what_it_was_when_it_was_last_read_is_told_as_past(viewer: Client) -> None:
    row = ForeignProjection.objects.create(
        source="bank", name=NAME, state="running", read_at=timezone.now() - timedelta(hours=1)
    )
    assert "<dt>Was running since</dt>" in show(viewer, row)
    ForeignProjection.objects.update(lag=3, lag_bound="at_most")
    assert '<p class="n">unknown</p><p class="d">at most 3 when it was last read</p>' in show(viewer, row)
    ForeignProjection.objects.update(read_at=timezone.now())
    assert "<dt>Running since</dt>" in show(viewer, row)
