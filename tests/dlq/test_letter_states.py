"""The letter's page in its rarer states: parked, closed, in a run, cut, not JSON, a security matter."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django.fixtures import Settings

from dlq.api import Failure, Parked, park_events, record_failures
from dlq.models import Attempt, ClassificationRule, DeadLetter
from dlq.operations import Done, add_rule, apply_rules
from dlq.selection import newest_id, select_ids
from projections.api import NewEvent, append, get_head

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]


def read(client: Client, letter: DeadLetter) -> str:
    return client.get(f"/dead-letters/letters/{letter.pk}/").content.decode()


def append_event(data: Any) -> int:
    """To our own event store; returns the event's position."""
    append("ord-1", [NewEvent("Paid", data)])
    return get_head()


@pytest.fixture
def follower() -> DeadLetter:
    """Parked behind an open letter of its sequence."""
    sequence = {"consumer": "orders", "event_type": "Paid", "sequence_key": "ord-1"}
    record_failures([Failure(**sequence, event_id="e1", error_type="E", sequence_no=1)])
    park_events([Parked(**sequence, event_id="e2", sequence_no=2)])
    return DeadLetter.objects.get(event_id="e2")


def test_a_parked_letter_says_what_it_waits_for(viewer: Client, follower: DeadLetter) -> None:
    page = read(viewer, follower)
    assert "<h1>Paid is parked</h1>" in page
    assert "orders has parked Paid" in page
    assert "<b>1 earlier letter</b> of its sequence must be dealt with first." in page
    assert "It was not tried: an earlier letter of its sequence is open." in page
    head = DeadLetter.objects.get(event_id="e1")
    assert f'<a href="/dead-letters/letters/{head.pk}/">Paid #1</a>' in page
    assert "<dt>Category</dt>" not in page
    assert "/dead-letters/groups/" not in page


def test_a_closed_follower_says_that_it_was_parked_and_why_it_is_closed(
    viewer: Client, follower: DeadLetter, do: Callable[..., Done]
) -> None:
    do("discard", select_ids([follower.pk]), 1, reason="sent by hand")
    page = read(viewer, follower)
    assert "<h1>Paid was parked</h1>" in page
    assert "orders had parked Paid" in page
    assert "by someone (discarded)<br>sent by hand" in page
    assert "must be dealt with first" not in page
    assert "It was not tried: an earlier letter of its sequence was open." in page


def test_a_letter_stays_parked_when_nothing_before_it_is_open_any_more(
    viewer: Client, follower: DeadLetter, do: Callable[..., Done]
) -> None:
    do("resolve", select_ids([DeadLetter.objects.get(event_id="e1").pk]), 1)
    page = read(viewer, follower)
    assert "No earlier letter of its sequence is open any more: it stays parked until somebody" in page
    assert "It was not tried: an earlier letter of its sequence was open." in page


def test_a_parked_letter_shows_what_the_event_store_has_of_it(
    viewer: Client, admin: Client, follower: DeadLetter, settings: Settings, do: Callable[..., Done]
) -> None:
    settings.MASKED_PATHS = ["$.card"]
    assert "There is no stored payload" in read(viewer, follower)
    DeadLetter.objects.filter(pk=follower.pk).update(position=append_event({"card": "4242", "total": 17}))
    page = read(viewer, follower)
    assert "From the event store; there is no copy here." in page
    assert '<span class="json-word">17</span>' in page
    assert "•••" in page
    download = f"/dead-letters/letters/{follower.pk}/payload/"
    for shown in (page, viewer.get(download).content.decode()):
        assert "17" in shown
        assert "4242" not in shown
    assert "4242" in admin.post(f"/dead-letters/letters/{follower.pk}/unmask/").content.decode()
    do("erase", select_ids([follower.pk]), 1)
    assert "From the event store" not in read(viewer, follower)
    assert viewer.get(download).content == b""


def test_what_is_erased_has_no_replay_whatever_its_target_is(
    operator: Client, make_letters: Make, do: Callable[..., Done]
) -> None:
    [letter] = make_letters(1, payload={"pin": 7})
    assert "Nobody has said where letters of billing are replayed to" in read(operator, letter)
    do("erase", select_ids([letter.pk]), 1)
    page = read(operator, letter)
    assert "No replay. Its payload was erased." in page
    assert "Nobody has said" not in page
    assert "<h1>ValueError</h1>" in page


def test_attempts_that_are_only_counted_are_not_passed_over(viewer: Client, make_letters: Make) -> None:
    [letter] = make_letters(1, attempts=3)
    assert "2 earlier attempts are counted, and not shown here." in read(viewer, letter)
    DeadLetter.objects.update(attempts=1)
    assert "earlier attempt" not in read(viewer, letter)


def test_without_any_attempt_on_record_the_number_is_still_told(viewer: Client, make_letters: Make) -> None:
    [letter] = make_letters(1, attempts=3)
    Attempt.objects.all().delete()
    page = read(viewer, letter)
    assert "3 attempts are counted, and not shown here." in page
    assert "It was not tried" not in page


def test_a_letter_in_a_run_leads_there(operator: Client, someone: User, make_letters: Make) -> None:
    [letter] = make_letters(1)
    rule = add_rule(ClassificationRule(consumer="billing", category="dependency"), actor=someone)
    run = apply_rules(rule, watermark=newest_id(), confirmed=1, actor=someone, request_key=uuid4())
    page = read(operator, letter)
    assert f'<a class="badge info" href="/runs/{run.pk}/">in run {run.pk}</a>' in page
    assert f'<a class="btn" href="/runs/{run.pk}/">See run {run.pk}</a>' in page
    assert "Resolve…" not in page


def test_a_security_matter_is_named(viewer: Client, someone: User, make_letters: Make) -> None:
    fields = {"consumer": "billing", "category": "permanent", "is_security": True, "offers_replay": False}
    rule = add_rule(ClassificationRule(**fields), actor=someone)
    [letter] = make_letters(1)
    page = read(viewer, letter)
    assert '<span class="badge bad">security</span>' in page
    assert f"{rule}; not to be sent again as it is" in page


def test_where_it_stood_in_its_topic_is_told(viewer: Client, make_letters: Make) -> None:
    [letter] = make_letters(1, topic="orders", partition=3, offset=7041)
    assert '<span class="mono">orders</span>, partition 3, offset 7041</dd>' in read(viewer, letter)


def test_an_unknown_offset_is_not_told(viewer: Client, make_letters: Make) -> None:
    [letter] = make_letters(1, topic="orders", partition=3)
    assert '<span class="mono">orders</span>, partition 3</dd>' in read(viewer, letter)


def test_a_sequence_without_numbers_claims_none(viewer: Client, make_letters: Make) -> None:
    letters = make_letters(3, event_type="Paid", sequence_key="ord-1")
    page = read(viewer, letters[1])
    assert '<dd class="mono">ord-1</dd>' in page
    # Their events tell them apart.
    assert '<b>Paid <span class="mono">e1</span></b>' in page
    assert [f'>Paid <span class="mono">e{n}</span></a>' in page for n in (0, 1, 2)] == [True, False, True]


def test_an_event_without_a_type_is_named_by_its_id(viewer: Client, make_letters: Make) -> None:
    [head] = make_letters(1, consumer="orders", sequence_key="ord-1")
    park_events([Parked(consumer="orders", event_id="e9", sequence_key="ord-1")])
    parked = DeadLetter.objects.get(event_id="e9")
    assert "<h1>e9 is parked</h1>" in read(viewer, parked)
    assert f'<a href="/dead-letters/letters/{parked.pk}/"> <span class="mono">e9</span></a>' in read(
        viewer, head
    )


def test_a_payload_that_is_not_json_is_shown_as_it_came(viewer: Client, make_letters: Make) -> None:
    [letter] = make_letters(1, payload=b"total=\xff;<b>")
    assert '<pre class="payload" tabindex="0">total=\\xff;&lt;b&gt;</pre>' in read(viewer, letter)


@pytest.mark.parametrize(
    ("payload", "is_cut", "has_copy"),
    [
        ({"many": list(range(1_000))}, True, True),
        (b"x" * 20_000, False, True),
        (b"x" * 20_001, True, True),
        (b"x" * 200_001, True, False),
    ],
)
def test_a_large_payload_is_shown_in_part_and_is_never_copied_in_part(
    viewer: Client, make_letters: Make, payload: Any, is_cut: bool, has_copy: bool
) -> None:
    [letter] = make_letters(1, payload=payload)
    page = read(viewer, letter)
    assert ("This is only a part; the download has all of it." in page) == is_cut
    assert ('data-copy="#payload-text"' in page) == has_copy
    assert ("<i>1,000</i>" in page) == isinstance(payload, dict)


def test_under_new_masking_rules_the_heading_is_the_masked_message(
    viewer: Client, make_letters: Make, settings: Settings
) -> None:
    [letter] = make_letters(1, payload={"name": "Ada"}, error_message="no Ada here\nsecond line")
    settings.MASKED_PATHS = ["$.name"]
    page = read(viewer, letter)
    assert "<h1>ValueError: no ••• here</h1>" in page
    assert "Ada" not in page


def test_a_replay_that_is_not_advised_can_be_asked_for_and_does_not_stand_out(
    operator: Client, make_letters: Make
) -> None:
    [letter] = make_letters(1, consumer="letters")
    asks = f'data-dialog href="/dead-letters/replay/confirm/?scope=letter&amp;id={letter.pk}">Replay…</a>'
    # There is nothing yet that could be replayed.
    assert asks not in read(operator, letter)
    DeadLetter.objects.update(position=append_event({}))
    assert f'<a class="btn primary" {asks}' in read(operator, letter)
    DeadLetter.objects.update(offers_replay=False)
    assert f'<a class="btn" {asks}' in read(operator, letter)


def test_a_link_finds_a_letter_whose_names_are_longer_than_an_index_can_hold(viewer: Client) -> None:
    named = {"source": "native", "consumer": "orders", "event_id": "e" * 700}
    [pk] = record_failures([Failure(**named, error_type="E")])
    assert viewer.get("/dead-letters/find/", named)["Location"] == f"/dead-letters/letters/{pk}/"
