"""The group's page as people leave it: muted, noted, closed, back again, and seen elsewhere."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from dlq.api import Failure, Parked, park_events, record_failures
from dlq.compaction import compact
from dlq.models import ClassificationRule, DeadLetter, FailureGroup
from dlq.operations import Done, add_rule, link_ticket, mute_group, note_group
from dlq.selection import select_group

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]


@pytest.fixture
def group(make_letters: Make) -> FailureGroup:
    make_letters(1)
    return FailureGroup.objects.get()


def read(client: Client, group: FailureGroup) -> str:
    return client.get(f"/dead-letters/groups/{group.pk}/").content.decode()


def test_a_muted_group_says_until_when_and_who_did_it(
    operator: Client, viewer: Client, someone: User, group: FailureGroup
) -> None:
    until = timezone.now() + timedelta(hours=24)
    mute_group(group, until=until, actor=someone, reason="known, fixed in 1.8")
    page = read(operator, group)
    assert f'<b>Muted</b> until <time datetime="{until.isoformat(timespec="seconds")[:13]}' in page
    assert ">Unmute</button>" in page
    assert "A failure group was muted, for a time or until it is unmuted." in page
    assert "known, fixed in 1.8" in page
    assert ">Unmute</button>" not in read(viewer, group)


def test_a_group_can_be_muted_until_somebody_unmutes_it(
    viewer: Client, someone: User, group: FailureGroup
) -> None:
    mute_group(group, until=None, actor=someone)
    page = read(viewer, group)
    assert "<b>Muted</b> until somebody unmutes it." in page
    assert "A failure group was muted, for a time or until it is unmuted." in page


def test_a_reason_that_is_too_long_is_refused_where_it_is_muted(
    operator: Client, group: FailureGroup
) -> None:
    refused = operator.post(f"/dead-letters/groups/{group.pk}/mute/", {"hours": "1", "reason": "x" * 501})
    assert refused.status_code == 400
    assert "A reason can have 500 characters; this one has 501." in refused.content.decode()


def test_note_and_ticket_stand_on_the_page(operator: Client, someone: User, group: FailureGroup) -> None:
    note_group(group, note="ask payments\nfirst", actor=someone)
    link_ticket(group, ticket="https://tickets.example/7", actor=someone)
    page = read(operator, group)
    assert "ask payments<br>first" in page
    assert "Change the note" in page
    assert '<a href="https://tickets.example/7" rel="noreferrer">' in page


@pytest.mark.parametrize(
    ("runbook", "shown"),
    [
        (
            "https://wiki.example/billing",
            '<a href="https://wiki.example/billing" rel="noreferrer">Runbook</a>',
        ),
        ("Call them.\nThen wait.", "Call them.<br>Then wait."),
    ],
)
def test_the_runbook_of_the_rule_is_a_link_or_text(
    viewer: Client, someone: User, make_letters: Make, runbook: str, shown: str
) -> None:
    add_rule(ClassificationRule(consumer="billing", category="transient", runbook=runbook), actor=someone)
    make_letters(1)
    assert shown in read(viewer, FailureGroup.objects.get())


def test_the_configured_runbook_leads_to_the_consumer(
    viewer: Client, group: FailureGroup, settings: Settings
) -> None:
    settings.RUNBOOK_URL = "https://wiki.example/{consumer}"
    assert 'href="https://wiki.example/billing"' in read(viewer, group)


def test_a_group_whose_only_letter_is_closed_asks_for_nothing(
    viewer: Client, group: FailureGroup, do: Callable[..., Done]
) -> None:
    do("resolve", select_group(group), 1)
    page = read(viewer, group)
    assert "Its only letter, of billing, is closed." in page
    assert "Nothing now: all of it is closed." in page


def test_what_fails_again_after_all_was_closed_has_regressed(
    viewer: Client, group: FailureGroup, make_letters: Make, do: Callable[..., Done]
) -> None:
    do("resolve", select_group(group), 1)
    make_letters(1, event_id="again", failed_at=timezone.now() + timedelta(seconds=1))
    assert "<b>Regressed</b>: what had been closed failed again" in read(viewer, group)


def test_what_it_holds_up_is_told_and_what_is_not_parked_is_not(viewer: Client, make_letters: Make) -> None:
    sequence = {"consumer": "billing", "sequence_key": "s"}
    make_letters(1, **sequence, sequence_no=1)
    group = FailureGroup.objects.get()
    compact()
    page = read(viewer, group)
    assert "1 sequence held up." in page
    assert "<dd>1 open</dd>" in page
    park_events([Parked(**sequence, event_id="p", sequence_no=2)])
    compact()
    page = read(viewer, group)
    assert "1 sequence held up, 1 letter parked behind." in page
    assert "<dd>1 open, 1 parked</dd>" in page


def test_a_group_of_which_all_is_closed_says_how_many(
    viewer: Client, make_letters: Make, do: Callable[..., Done]
) -> None:
    make_letters(2)
    group = FailureGroup.objects.get()
    do("resolve", select_group(group), 2)
    assert "All 2 letters of billing are closed." in read(viewer, group)


def test_the_same_error_of_another_consumer_is_shown(
    viewer: Client, group: FailureGroup, make_letters: Make
) -> None:
    make_letters(2, consumer="shipping")
    page = read(viewer, group)
    assert "The same error elsewhere" in page
    assert "shipping" in page


def test_many_groups_go_on_on_another_page(viewer: Client) -> None:
    record_failures([Failure(consumer=f"c{n:02}", event_id="e", error_type="E") for n in range(51)])
    first = viewer.get("/dead-letters/")
    assert ">More groups</a>" in first.content.decode()
    # Nothing is in the cell, so that a narrow page leaves it out.
    assert "<span></span>" not in first.content.decode()
    after = first.context["page"].after
    rest = viewer.get("/dead-letters/", {"after": after})
    assert len(rest.context["page"].rows) == 1
    assert ">More groups</a>" not in rest.content.decode()
