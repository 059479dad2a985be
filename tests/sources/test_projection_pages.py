"""What the pages say of a projection that others run: its strategy, and its checkpoint against an event that failed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dlq.api import record_failure
from dlq.models import DeadLetter
from projections.models import ForeignProjection
from tests.markup import read_html
from tests.sources.keepers import NAME, RESTED, EventsourcePy, keeping

pytestmark = pytest.mark.django_db

EARLY, LATE = (str(UUID(f"01980000-000{n}-7000-8000-000000000000")) for n in (1, 2))


def make_row(**fields: Any) -> ForeignProjection:
    return ForeignProjection.objects.create(source="bank", name="balances", **fields)


def show_letter(viewer: Client, **fields: Any) -> str:
    failed = {"event_id": "e1", "error_type": "ValueError", "payload": {}} | fields
    letter_id = record_failure(source="bank", consumer="balances", **failed)
    return read_html(viewer.get(reverse("dlq:letter", args=[letter_id])))


def test_a_strategy_that_redrive_toml_declares_is_a_badge(viewer: Client, settings: Any) -> None:
    page = reverse("projections:foreign", args=[make_row().pk])
    assert "<dt>Strategy</dt><dd>unknown" in read_html(viewer.get(page))
    settings.CONSUMERS = {"bank/balances": {"strategy": "dead-letter"}, "bank/other": {"strategy": "skip"}}
    assert "Its letters cannot be replayed yet" in read_html(viewer.get(page))
    assert '<span class="badge">dead-letter</span>' in read_html(viewer.get(page))
    html = read_html(viewer.get(reverse("projections:projections")))
    assert ">dead-letter</span>" in html
    assert ">skip</span>" not in html
    settings.CONSUMERS = {"bank/balances": {"target": "source"}}
    assert "Its letters can be replayed to the target" in read_html(viewer.get(page))


@pytest.mark.parametrize("position", [1180, 1204])
def test_a_letter_says_that_the_checkpoint_has_passed_its_event(viewer: Client, position: int) -> None:
    make_row(position=1204, head=1300)
    assert (
        f"Its checkpoint is at 1,204 and has passed this event ({position:,}): nobody will try it again by itself."
    ) in show_letter(viewer, position=position)


@pytest.mark.django_db(transaction=True)
def test_positions_of_letters_are_found_at_their_source(
    viewer: Client, settings: Any, look_at: Callable[[str, str], ForeignProjection]
) -> None:
    """eventsource-py's letters do not say where their event stands; its events do."""
    with keeping(EventsourcePy) as bank:
        settings.SOURCES = {"bank": bank.configuration}
        settings.CONSUMERS = {f"bank/{NAME}": {"event_types": ["SomethingElse"]}}
        _, failed, last = (bank.append() for _ in range(3))
        bank.add_letter(failed, age=RESTED)
        bank.add_letter(last, age=RESTED, consumer="somebody else")
        bank.save(last)
        look_at("bank", NAME)
    assert dict(DeadLetter.objects.values_list("event_id", "position")) == {failed: 2, last: None}
    letter = DeadLetter.objects.get(event_id=failed)
    html = read_html(viewer.get(reverse("dlq:letter", args=[letter.pk])))
    assert "Its checkpoint is at 3 and has passed this event (2):" in html


def test_a_letter_says_that_the_checkpoint_has_not_come_to_it(viewer: Client) -> None:
    make_row(position=1204, head=1300)
    html = show_letter(viewer, position=1205)
    assert "Its checkpoint is at 1,204 and has not come to this event (1,205) yet." in html


def test_ids_that_grow_are_places_too(viewer: Client) -> None:
    row = make_row(checkpoint=LATE)
    assert f"Its checkpoint is at {LATE} and has passed this event:" in show_letter(viewer, event_id=EARLY)
    ForeignProjection.objects.filter(pk=row.pk).update(checkpoint=EARLY)
    assert "has not come to this event yet." in show_letter(viewer, event_id=LATE)


def test_one_that_was_reset_comes_to_it_again(viewer: Client) -> None:
    make_row(position=1204, has_checkpoint=False)
    assert "It has no checkpoint: its worker will come to this event again" in show_letter(
        viewer, position=1180
    )


def test_what_cannot_be_compared_or_needs_nobody_is_not_told(viewer: Client) -> None:
    row = make_row(position=1204, checkpoint="somewhere")
    assert "Its checkpoint is at" not in show_letter(viewer)
    DeadLetter.objects.update(position=1180)
    letter = reverse("dlq:letter", args=[DeadLetter.objects.get().pk])
    assert "Its checkpoint is at" in read_html(viewer.get(letter))
    DeadLetter.objects.update(
        status="resolved", resolution="by_hand", closed_at=timezone.now(), closed_by="alice"
    )
    assert "Its checkpoint is at" not in read_html(viewer.get(letter))
    DeadLetter.objects.update(status="failed", resolution="", closed_at=None, closed_by="")
    assert "Its checkpoint is at" in read_html(viewer.get(letter))
    # It may have moved since it was last read.
    ForeignProjection.objects.filter(pk=row.pk).update(read_at=timezone.now() - timedelta(hours=1))
    assert "Its checkpoint is at" not in read_html(viewer.get(letter))


def test_of_one_that_was_not_read_of_late_no_lag_is_told(viewer: Client) -> None:
    row = make_row(lag=0, position=7, head=7)
    addresses = (reverse("projections:projections"), reverse("projections:foreign", args=[row.pk]))
    fresh = [read_html(viewer.get(address)) for address in addresses]
    ForeignProjection.objects.filter(pk=row.pk).update(read_at=timezone.now() - timedelta(hours=1))
    stale = [read_html(viewer.get(address)) for address in addresses]
    for before, after in zip(fresh, stale, strict=True):
        # The lag and the delay.
        assert after.count("unknown") >= before.count("unknown") + 2
    assert "nothing waits" in fresh[1]
    assert "nothing waits" not in stale[1]
    assert "0 when it was last read" in stale[1]
    # It was unknown then, and is.
    assert "<dt>Unknown since</dt>" in stale[1]
    assert "Too few samples for a line: bank was last read" in stale[1]
