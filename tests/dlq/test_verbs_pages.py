"""Resolve, discard, restore and erase through the browser's own forms: what is confirmed is what is touched."""

import re
from html import unescape
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard.actions import OPERATOR
from dashboard.models import AuditEntry, Run
from dlq.api import Failure, Parked, park_events, record_failures
from dlq.models import DeadLetter, FailureGroup

pytestmark = pytest.mark.django_db


def record(number: int, *, consumer: str = "orders", first: int = 0) -> None:
    record_failures(
        [
            Failure(consumer=consumer, event_id=f"e{n}", error_type="KeyError", error_message="'currency'")
            for n in range(first, first + number)
        ]
    )


def confirm_and_send(client: Client, path: str, **changes: str) -> tuple[int, str]:
    """Open the confirmation and send its form as it stands, but for the changes."""
    page = client.get(path).content.decode()
    form = re.search(r'<form class="confirm".*?</form>', page, re.S)
    assert form
    fields: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0]):
        fields.setdefault(name, []).append(unescape(value))
    action = re.search(r'action="([^"]+)"', form[0])
    assert action
    response = client.post(action[1], fields | {name: [value] for name, value in changes.items()})
    return response.status_code, response.get("Location", response.content.decode())


def statuses() -> list[str]:
    return list(DeadLetter.objects.order_by("pk").values_list("status", flat=True))


def test_ticked_letters_are_discarded_with_a_reason_and_restored(operator: Client) -> None:
    record(3)
    first, second, _ = DeadLetter.objects.order_by("pk").values_list("pk", flat=True)
    status, location = confirm_and_send(
        operator, f"/dead-letters/discard/confirm/?id={first}&id={second}", reason="test data"
    )
    assert (status, location) == (302, "/dead-letters/letters/")
    assert statuses() == ["discarded", "discarded", "failed"]
    undo = re.search(r'href="([^"]+restore/confirm/[^"]+)"', operator.get(location).content.decode())
    assert undo
    confirm_and_send(operator, unescape(undo[1]))
    assert statuses() == ["failed", "failed", "failed"]
    entry = AuditEntry.objects.get(action="letter.discard")
    assert (entry.reason, entry.details["count"]) == ("test data", 2)


def test_what_is_done_on_a_letters_page_leads_back_there(operator: Client) -> None:
    record(1)
    page = f"/dead-letters/letters/{DeadLetter.objects.get().pk}/"
    resolve = re.search(r'href="([^"]+resolve/confirm/[^"]+)"', operator.get(page).content.decode())
    assert resolve
    assert confirm_and_send(operator, unescape(resolve[1])) == (302, page)
    assert statuses() == ["resolved"]


def test_a_discard_without_a_reason_is_refused(operator: Client) -> None:
    record(1)
    pk = DeadLetter.objects.get().pk
    status, page = confirm_and_send(operator, f"/dead-letters/discard/confirm/?id={pk}")
    assert (status, "Give a reason" in page) == (409, True)
    assert statuses() == ["failed"]


def test_all_that_match_means_those_that_were_counted(operator: Client) -> None:
    """What arrives between the confirmation and the click is not touched, and does not stop it."""
    record(2)
    page = operator.get("/dead-letters/resolve/confirm/?scope=matching&consumer=orders")
    fields = {
        name: re.search(rf'name="{name}" value="([^"]+)"', page.content.decode())[1]  # type: ignore[index]
        for name in ("watermark", "count", "follower_count", "request_key")
    }
    record(1, first=9)
    operator.post("/dead-letters/resolve/", fields | {"scope": "matching", "consumer": "orders"})
    assert statuses() == ["resolved", "resolved", "failed"]


def test_if_fewer_match_than_were_confirmed_it_asks_again(operator: Client) -> None:
    record(2)
    path = "/dead-letters/resolve/confirm/?scope=matching&consumer=orders"
    status, page = confirm_and_send(operator, path, count="5")
    assert (status, "5 letters were confirmed, and now there are 2" in page) == (409, True)
    assert "came since" not in page
    assert statuses() == ["failed", "failed"]


def test_where_others_came_since_the_refusal_tells_their_number_from_that_of_the_page(
    operator: Client,
) -> None:
    record(1)
    form = {"scope": "matching", "consumer": "orders", "count": 2, "request_key": str(uuid4())}
    watermark = DeadLetter.objects.get().pk
    record(2, first=9)
    answer = operator.post("/dead-letters/resolve/", form | {"watermark": watermark})
    assert answer.status_code == 409
    page = answer.content.decode()
    told = "2 letters were confirmed, and now there is 1, or 3 with what came since. Nothing was changed."
    assert told in page
    assert "Resolve 3 letters of orders?" in page


def test_a_letter_that_moved_meanwhile_is_reported(operator: Client) -> None:
    record(2)
    first, second = DeadLetter.objects.order_by("pk").values_list("pk", flat=True)
    path = f"/dead-letters/resolve/confirm/?id={first}&id={second}"
    DeadLetter.objects.filter(pk=first).update(status="discarded")
    _, location = confirm_and_send(operator, path, count="2")
    assert b"1 had moved on meanwhile and was left alone" in operator.get(location).content


def test_a_group_is_resolved_as_a_whole(operator: Client) -> None:
    record(3)
    group = DeadLetter.objects.first().group_id  # type: ignore[union-attr]
    _, location = confirm_and_send(operator, f"/dead-letters/resolve/confirm/?scope=group&group={group}")
    assert location == f"/dead-letters/groups/{group}/"
    assert set(statuses()) == {"resolved"}


def test_many_letters_become_a_run_and_a_double_click_is_one(operator: Client) -> None:
    record(201)
    path = "/dead-letters/resolve/confirm/?scope=matching"
    key = "0" * 32
    first = confirm_and_send(operator, path, request_key=key)
    run = Run.objects.get()
    assert first == (302, f"/runs/{run.pk}/")
    assert set(statuses()) == {"failed"}
    page = operator.get(path).content.decode()
    assert f'201 letters are in run <a href="/runs/{run.pk}/">{run.pk}</a>, and left out.' in page


def test_above_the_limit_the_number_must_be_typed(operator: Client, settings: Settings) -> None:
    settings.TYPE_NUMBER_ABOVE = 2
    record(3)
    path = "/dead-letters/resolve/confirm/?scope=matching"
    status, page = confirm_and_send(operator, path, typed="2")
    assert (status, "type that number" in page) == (422, True)
    assert confirm_and_send(operator, path, typed="3")[0] == 302
    assert set(statuses()) == {"resolved"}


def test_letters_of_a_critical_consumer_need_a_reason(operator: Client, settings: Settings) -> None:
    settings.CRITICAL_CONSUMERS = frozenset({"ledger"})
    record(1, consumer="ledger")
    path = "/dead-letters/resolve/confirm/?scope=matching"
    assert "must not lose an event" in operator.get(path).content.decode()
    assert confirm_and_send(operator, path)[0] == 409
    assert confirm_and_send(operator, path, reason="booked by hand")[0] == 302


@pytest.mark.parametrize(("followers", "expected"), [("wait", "parked"), ("along", "discarded")])
def test_the_followers_of_a_head_wait_or_come_along(operator: Client, followers: str, expected: str) -> None:
    record_failures(
        [Failure(consumer="orders", event_id="e0", error_type="E", sequence_key="s", sequence_no=1)]
    )
    park_events([Parked(consumer="orders", event_id="e1", sequence_key="s", sequence_no=2)])
    head = DeadLetter.objects.get(event_id="e0").pk
    path = f"/dead-letters/discard/confirm/?id={head}"
    assert "1 follower parked behind it" in operator.get(path).content.decode()
    confirm_and_send(operator, path, reason="broken", followers=followers)
    assert statuses() == ["discarded", expected]


def test_erasing_keeps_the_record_and_nothing_of_the_event(admin: Client) -> None:
    record_failures(
        [
            Failure(
                consumer="orders",
                event_id="e0",
                error_type="E",
                error_message="secret-7",
                payload={"pin": "secret-7"},
            )
        ]
    )
    pk = DeadLetter.objects.get().pk
    confirm_and_send(admin, f"/dead-letters/erase/confirm/?id={pk}", reason="asked for by the customer")
    page = admin.get(f"/dead-letters/letters/{pk}/").content
    assert b"secret-7" not in page
    assert b"Erased" in page


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        (
            "?scope=matching&attempts=x",
            "The filter is wrong. Attempts, at least: it must be a whole number from",
        ),
        ("", "Tick from 1 to 500 letters"),
        ("?id=x", "Tick from 1 to 500 letters"),
        ("?scope=group&group=x", "group is &#x27;x&#x27;; it can be a whole number from 0 on."),
    ],
)
def test_a_selection_that_makes_no_sense_is_refused(operator: Client, path: str, sentence: str) -> None:
    answer = operator.get(f"/dead-letters/resolve/confirm/{path}")
    assert (answer.status_code, sentence in answer.content.decode()) == (400, True)


def test_a_verb_that_was_taken_from_a_role_is_not_offered(operator: Client) -> None:
    record(1)
    group = FailureGroup.objects.get()
    pages = ["/dead-letters/letters/?status=any", f"/dead-letters/groups/{group.pk}/"]
    offered = [">Discard…<", ">Restore…<", 'name="ticket"', 'name="note"']
    both = "".join(operator.get(page).content.decode() for page in pages)
    assert all(button in both for button in offered)
    taken = Permission.objects.filter(
        codename__in=["letter.discard", "letter.restore", "group.ticket", "group.note"]
    )
    Group.objects.get(name=OPERATOR).permissions.remove(*taken)
    both = "".join(operator.get(page).content.decode() for page in pages)
    assert not any(button in both for button in offered)
    assert 'name="assignee"' in both
