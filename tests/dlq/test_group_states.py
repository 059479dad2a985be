"""The group's page as people leave it: muted, noted, closed, back again, and seen elsewhere."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from dashboard.words import clock
from dlq.api import Failure, record_failures
from dlq.charts import draw_hours
from dlq.compaction import compact
from dlq.models import ClassificationRule, DeadLetter, FailureGroup
from dlq.operations import Done, add_rule, assign_group, link_ticket, mute_group, note_group, unmute_group
from dlq.operations.errors import ConfirmAgain
from dlq.selection import select_group, select_ids
from tests.markup import read_html

pytestmark = pytest.mark.django_db
Make = Callable[..., list[DeadLetter]]


@pytest.fixture
def group(make_letters: Make) -> FailureGroup:
    make_letters(1)
    return FailureGroup.objects.get()


def read(client: Client, group: FailureGroup) -> str:
    return read_html(client.get(f"/dead-letters/groups/{group.pk}/"))


def test_a_muted_group_says_until_when_and_who_did_it(
    operator: Client, viewer: Client, someone: User, group: FailureGroup
) -> None:
    until = timezone.now() + timedelta(hours=24)
    mute_group(group, until=until, actor=someone, reason="known, fixed in 1.8")
    page = read(operator, group)
    assert f'<b>Muted</b> until <time datetime="{until.isoformat(timespec="seconds")[:13]}' in page
    assert ">Unmute</button>" in page
    assert f"<b>someone</b> muted it until {clock(until)} " in page
    assert "known, fixed in 1.8" in page
    assert ">Unmute</button>" not in read(viewer, group)


def test_a_group_can_be_muted_until_somebody_unmutes_it(
    viewer: Client, someone: User, group: FailureGroup
) -> None:
    mute_group(group, until=None, actor=someone)
    page = read(viewer, group)
    assert "<b>Muted</b> until somebody unmutes it." in page
    assert "<b>someone</b> muted it until somebody unmutes it " in page


@pytest.mark.parametrize(
    ("act", "deed"),
    [
        (partial(assign_group, assignee="ann"), "gave it to ann"),
        (partial(assign_group, assignee=""), "gave it to nobody"),
        (unmute_group, "unmuted it"),
        (partial(note_group, note="ask payments"), "wrote its note"),
        (partial(note_group, note=""), "took its note away"),
        (partial(link_ticket, ticket="https://tickets.example/7"), "linked it to https://tickets.example/7"),
        (partial(link_ticket, ticket=""), "took its ticket away"),
    ],
)
def test_what_people_did_with_it_is_told_in_words(
    viewer: Client, someone: User, group: FailureGroup, act: Callable[..., None], deed: str
) -> None:
    act(group, actor=someone)
    assert f"<li><b>someone</b> {deed} " in read(viewer, group)


def test_what_was_done_to_its_letters_is_told_and_what_was_refused_is_not(
    viewer: Client, make_letters: Make, do: Callable[..., Done]
) -> None:
    make_letters(2)
    group = FailureGroup.objects.get()
    with pytest.raises(ConfirmAgain):
        do("resolve", select_group(group), 3, reason="too many")
    assert "Nobody has assigned, muted or noted anything here yet" in read(viewer, group)
    do("resolve", select_group(group), 2)
    do("restore", select_group(group, closed=True), 2)
    page = read(viewer, group)
    assert "<b>someone</b> closed 2 letters as dealt with elsewhere " in page
    assert "<b>someone</b> opened 2 letters again " in page
    assert "too many" not in page


def test_everybody_sees_who_is_on_it(viewer: Client, someone: User, group: FailureGroup) -> None:
    assert "<p>Nobody is on it.</p>" in read(viewer, group)
    assign_group(group, assignee="ann", actor=someone)
    assert "<p><b>ann</b> is on it.</p>" in read(viewer, group)


def test_what_is_not_to_be_sent_again_is_not_advised(viewer: Client, group: FailureGroup) -> None:
    assert "Needs a fix first; the same event will fail in the same way." in read(viewer, group)
    DeadLetter.objects.update(offers_replay=False)
    assert "Not to be sent again as it is." in read(viewer, group)


@pytest.mark.parametrize(
    ("error_type", "category", "look"),
    [("ValueError", "permanent", "btn primary"), ("MemoryError", "poison", "btn")],
)
def test_the_replay_of_a_poison_group_can_be_asked_for_and_does_not_stand_out(
    operator: Client, make_letters: Make, error_type: str, category: str, look: str
) -> None:
    make_letters(1, consumer="letters", error_type=error_type)
    group = FailureGroup.objects.get()
    assert group.category == category
    url = f"/dead-letters/replay/confirm/?scope=group&amp;group={group.pk}"
    assert f'<a class="{look}" data-dialog href="{url}">Replay 1…</a>' in read(operator, group)


def test_each_sample_says_whether_it_is_open_and_when_it_failed_or_was_closed(
    viewer: Client, make_letters: Make, do: Callable[..., Done]
) -> None:
    first, _ = make_letters(2)
    do("resolve", select_ids([first.pk]), 1)
    page = read(viewer, FailureGroup.objects.get())
    assert page.count('<span class="badge good">Resolved</span> <span class="dim"><time') == 1
    assert page.count('<span class="badge bad">Open</span> <span class="dim">failed ') == 1


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ([0, 0, 0, 0], "Nothing failed in the last 7 days."),
        ([0, 0, 1, 0], "1 failed attempt, in the hour from Tue 11:00 UTC."),
        ([2, 0, 1_000, 0], "1,002 failed attempts; the worst hour, from Tue 11:00 UTC, had 1,000."),
    ],
)
def test_the_chart_names_the_worst_hour_and_draws_none_without_a_failure(
    monkeypatch: pytest.MonkeyPatch, numbers: list[int], sentence: str
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 3, 12, 30, tzinfo=UTC))
    chart = draw_hours([0] * 164 + numbers, "permanent")
    assert chart.sentence == sentence
    assert chart.layers[0].path.count("M") == sum(map(bool, numbers))
    assert chart.words[-1] == "Tue 12:00: none"


def test_the_hours_of_a_chart_are_those_that_were_counted_whatever_the_zone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 3, 12, 40, tzinfo=UTC))
    with timezone.override(ZoneInfo("Asia/Kolkata")):
        assert draw_hours([0, 3], "permanent").sentence.endswith("in the hour from Tue 17:30 IST.")
    # The clock was put back by an hour on the first of November.
    with timezone.override(ZoneInfo("America/New_York")):
        words = draw_hours([0] * 56, "permanent").words
        assert [word[:9] for word in words[:5]] == [
            "Sun 01:00",
            "Sun 01:00",
            "Sun 02:00",
            "Sun 03:00",
            "Sun 04:00",
        ]


def test_a_reason_that_is_too_long_is_refused_where_it_is_muted(
    operator: Client, group: FailureGroup
) -> None:
    refused = operator.post(f"/dead-letters/groups/{group.pk}/mute/", {"hours": "1", "reason": "x" * 501})
    assert refused.status_code == 400
    assert "A reason can have at most 500 characters; this one has 501." in read_html(refused)


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


def test_shares_of_the_newest_letters_say_so(
    viewer: Client, make_letters: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_letters(3, event_type="Paid")
    compact()
    group = FailureGroup.objects.get()
    assert "<h2>Events and versions</h2>" in read(viewer, group)
    monkeypatch.setattr("dlq.queries.group.SAMPLE_SIZE", 2)
    assert "<h2>Events and versions of the newest 2 letters</h2>" in read(viewer, group)


def test_a_group_of_which_all_is_closed_says_how_many(
    viewer: Client, make_letters: Make, do: Callable[..., Done]
) -> None:
    make_letters(2)
    group = FailureGroup.objects.get()
    do("resolve", select_group(group), 2)
    page = read(viewer, group)
    assert "All 2 letters of billing are closed." in page
    # Each with when it was closed, and not with when it failed.
    closed_at = DeadLetter.objects.earliest("closed_at").closed_at
    assert closed_at is not None
    assert page.count(f'Resolved</span> <span class="dim"><time datetime="{closed_at.isoformat()}"') == 2


def test_a_group_whose_letters_fail_with_another_error_by_now_is_not_called_closed(
    viewer: Client, group: FailureGroup, make_letters: Make
) -> None:
    make_letters(1, error_type="KeyError", failed_at=timezone.now())
    page = read(viewer, group)
    assert "No letter of billing is in it any more" in page
    assert "Nothing now: it has no letter any more." in page
    assert "See its letters" not in page
    assert 'class="samples"' not in page
    assert "closed" not in page[page.index("<main") : page.index("</main>")]


def test_a_muted_group_can_be_unmuted_when_its_letters_have_gone(
    operator: Client, someone: User, group: FailureGroup, make_letters: Make
) -> None:
    mute_group(group, until=None, actor=someone)
    make_letters(1, error_type="KeyError", failed_at=timezone.now())
    page = read(operator, group)
    assert ">Unmute</button>" in page
    assert "See its letters" not in page


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
    assert ">More groups</a>" in read_html(first)
    # Nothing is in the cell, so that a narrow page leaves it out.
    assert "<span></span>" not in read_html(first)
    after = first.context["page"].after
    rest = viewer.get("/dead-letters/", {"after": after})
    assert len(rest.context["page"].rows) == 1
    assert ">More groups</a>" not in read_html(rest)
    # The last page can be emptied while somebody reads it.
    beyond = read_html(viewer.get("/dead-letters/", {"after": "0_1"}))
    assert "51 open letters in 51 groups" in beyond
    assert "No group is on this page" in beyond
    assert '<a href="/dead-letters/">Go to the first page</a>' in beyond
