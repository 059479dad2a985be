"""The dead letters' pages: what they show, what they refuse, and that hostile text stays text."""

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from dashboard.models import AuditEntry
from dlq.api import Failure, Parked, park_events, record_failures
from dlq.models import ClassificationRule, DeadLetter, FailureGroup

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"
TRACE = 'Traceback (most recent call last):\n  File "/srv/app/orders.py", line 8, in handle\n    fail()\nKeyError: 1\n'


@pytest.fixture
def letters() -> list[DeadLetter]:
    record_failures(
        [
            Failure(
                consumer="orders",
                event_id=f"e{number}",
                event_type="Placed",
                payload={"n": number, "customer": {"email": f"u{number}@example.org"}},
                error_type="KeyError",
                error_message="'currency'",
                stacktrace=TRACE,
                sequence_key="ord-1",
                sequence_no=number,
            )
            for number in range(3)
        ]
    )
    park_events(
        [Parked(consumer="orders", event_id="p1", event_type="Paid", sequence_key="ord-1", sequence_no=9)]
    )
    return list(DeadLetter.objects.order_by("pk"))


def test_the_groups_page_says_how_many_are_open(viewer: Client, letters: list[DeadLetter]) -> None:
    page = viewer.get("/dead-letters/").content.decode()
    assert "3 open letters in 1 group" in page
    assert "KeyError: &#x27;currency&#x27;" in page


@pytest.mark.parametrize("tab", ["open", "new", "regressed", "poison", "muted", "closed"])
def test_every_tab_answers_empty_and_full(viewer: Client, tab: str) -> None:
    assert viewer.get(f"/dead-letters/?tab={tab}").status_code == 200


def test_a_tab_that_does_not_exist_is_refused(viewer: Client) -> None:
    assert viewer.get("/dead-letters/?tab=odd").status_code == 400


def test_the_group_page_says_what_why_and_how_many(viewer: Client, letters: list[DeadLetter]) -> None:
    page = viewer.get(f"/dead-letters/groups/{letters[0].group_id}/").content.decode()
    assert "orders.py in handle" in page
    assert "Needs a fix first" in page
    assert viewer.get("/dead-letters/groups/999/").status_code == 404


def test_the_letter_page_tells_the_story(viewer: Client, letters: list[DeadLetter]) -> None:
    page = viewer.get(f"/dead-letters/letters/{letters[0].pk}/").content.decode()
    assert "1 follower" in page
    assert '<span class="own">  File &quot;/srv/app/orders.py&quot;' in page
    assert "ord-1" in page
    assert viewer.get("/dead-letters/letters/999/").status_code == 404


def test_an_alert_can_write_the_link_by_itself(viewer: Client, letters: list[DeadLetter]) -> None:
    found = viewer.get("/dead-letters/find/?source=native&consumer=orders&event_id=e1")
    assert found["Location"] == f"/dead-letters/letters/{letters[1].pk}/"
    assert viewer.get("/dead-letters/find/?source=native&consumer=orders&event_id=none").status_code == 404
    refused = viewer.get("/dead-letters/find/?source=native")
    assert (refused.status_code, b"The link lacks consumer and event_id." in refused.content) == (400, True)


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("", 3),
        ("?status=any", 4),
        ("?status=parked", 1),
        ("?consumer=orders", 3),
        ("?consumer=x", 0),
        ("?path=$.n&value=2", 1),
    ],
)
def test_the_letters_page_filters(viewer: Client, letters: list[DeadLetter], query: str, number: int) -> None:
    response = viewer.get(f"/dead-letters/letters/{query}")
    assert len(response.context["page"].rows) == number
    assert response.context["count"].number == number


@pytest.mark.parametrize(
    "query", ["?attempts=many", "?since=soon", "?path=$[", "?status=odd", "?after=x", "?group=0"]
)
def test_bad_input_gets_a_sentence(viewer: Client, query: str) -> None:
    assert viewer.get(f"/dead-letters/letters/{query}").status_code == 400


@pytest.mark.parametrize(
    ("status", "offered", "missing"),
    [
        ("", "Resolve…", "Restore…"),
        ("closed", "Restore…", "Resolve…"),
        ("any", "Restore…", "nothing is missing"),
    ],
)
def test_a_list_offers_what_fits_its_letters(
    operator: Client, letters: list[DeadLetter], status: str, offered: str, missing: str
) -> None:
    DeadLetter.objects.filter(pk=letters[0].pk).update(status="resolved")
    html = operator.get("/dead-letters/letters/", {"status": status}).content.decode()
    assert f">{offered}</button>" in html
    assert missing not in html


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("since=yesterday", "Write it like 2026-02-28 23:00; the zone is UTC."),
        ("attempts=many", "It must be a whole number from 1 to 1,000,000."),
        ("group=0", "It must be a group&#x27;s number."),
    ],
)
def test_a_filter_that_cannot_be_read_says_how_to_write_it(viewer: Client, query: str, sentence: str) -> None:
    answer = viewer.get(f"/dead-letters/letters/?{query}")
    assert answer.status_code == 400
    assert sentence in answer.content.decode()


@pytest.mark.parametrize("kind", ["csv", "ndjson"])
def test_an_export_holds_what_matches(viewer: Client, letters: list[DeadLetter], kind: str) -> None:
    text = b"".join(viewer.get(f"/dead-letters/export/?consumer=orders&format={kind}")).decode()
    assert text.count("'currency'") == 3
    assert AuditEntry.objects.get(action="letter.export").details["format"] == kind


def test_hostile_text_stays_text_in_every_field(admin: Client) -> None:
    names = "consumer event_id event_type error_type error_message stacktrace sequence_key trace_id tenant app_version"
    fields = dict.fromkeys(names.split(), HOSTILE)
    record_failures([Failure(**fields, payload={HOSTILE: [HOSTILE]}, headers={HOSTILE: HOSTILE})])
    letter = DeadLetter.objects.get()
    for path in (
        "",
        f"groups/{letter.group_id}/",
        "letters/",
        f"letters/{letter.pk}/",
        f"discard/confirm/?id={letter.pk}",
        "rules/?error_type=%3Cscript%3Ealert(1)%3C%2Fscript%3E&category=poison&priority=1",
    ):
        page = admin.get(f"/dead-letters/{path}").content
        assert b"<script>alert" not in page, path
        assert b"<img src=x" not in page, path


@pytest.fixture
def _masked(settings: Settings) -> None:
    settings.MASKED_PATHS = ["$.customer.email"]


@pytest.mark.usefixtures("_masked")
def test_masked_values_are_shown_only_on_demand_and_on_record(
    admin: Client, letters: list[DeadLetter]
) -> None:
    path = f"/dead-letters/letters/{letters[0].pk}/"
    for page in (
        admin.get(path),
        admin.get(f"{path}payload/"),
        admin.get(f"/dead-letters/groups/{letters[0].group_id}/"),
    ):
        assert b"u0@example.org" not in page.content
    shown = admin.post(f"{path}unmask/").content
    assert b"u0@example.org" in shown
    assert b"that you looked is on record" in shown
    assert b"u0@example.org" in admin.post(f"{path}payload/raw/").content
    assert AuditEntry.objects.filter(action="payload.unmask", subject=f"letter {letters[0].pk}").count() == 2


@pytest.mark.usefixtures("_masked")
def test_an_operator_sees_masked_values_nowhere(operator: Client, letters: list[DeadLetter]) -> None:
    path = f"/dead-letters/letters/{letters[0].pk}/"
    assert operator.post(f"{path}unmask/").status_code == 403
    assert operator.post(f"{path}payload/raw/").status_code == 403
    assert (
        operator.get("/dead-letters/letters/?path=$.customer.email&value=u0@example.org").status_code == 400
    )
    assert b"u0@example.org" not in b"".join(operator.get("/dead-letters/export/?format=ndjson"))


@pytest.mark.parametrize(
    ("verb", "fields", "expected"),
    [
        ("assign", {"assignee": "some-operator"}, {"assignee": "some-operator"}),
        ("note", {"note": "look at 1.7.2"}, {"note": "look at 1.7.2"}),
        ("ticket", {"ticket": "https://tickets.example/7"}, {"ticket": "https://tickets.example/7"}),
        ("mute", {"hours": "24", "reason": "known"}, {"is_muted": True}),
        ("unmute", {}, {"is_muted": False}),
    ],
)
def test_a_group_is_changed(
    operator: Client,
    letters: list[DeadLetter],
    verb: str,
    fields: dict[str, str],
    expected: dict[str, object],
) -> None:
    operator.post(f"/dead-letters/groups/{letters[0].group_id}/{verb}/", fields)
    group = FailureGroup.objects.get()
    assert {name: getattr(group, name) for name in expected} == expected
    assert AuditEntry.objects.filter(action=f"group.{verb}", subject=str(group)).count() == 1


@pytest.mark.parametrize(
    ("verb", "fields", "why"),
    [
        ("assign", {"assignee": "nobody-known"}, "There is no active user"),
        ("ticket", {"ticket": "javascript:alert(1)"}, "The ticket must be an address, such as https://"),
        ("ticket", {"ticket": f"https://t.example/{'x' * 600}"}, "can have at most 500 characters"),
        ("note", {"note": "x" * 10_001}, "A note can have at most 10,000 characters; this one has 10,001."),
        ("mute", {"hours": "7"}, "it can be 1, 24, 168, empty (until somebody unmutes it)."),
    ],
)
def test_a_wrong_change_is_refused_on_the_groups_page(
    operator: Client, letters: list[DeadLetter], verb: str, fields: dict[str, str], why: str
) -> None:
    refused = operator.post(f"/dead-letters/groups/{letters[0].group_id}/{verb}/", fields)
    page = refused.content.decode()
    assert (refused.status_code, why in page) == (400, True)
    [name] = fields
    assert f'aria-invalid="true" aria-describedby="id_{name}_error" autofocus' in page
    assert f'<div id="id_{name}_error" role="alert">' in page


def test_a_rule_says_what_it_would_change_is_added_and_removed(
    operator: Client, letters: list[DeadLetter]
) -> None:
    rule = {"error_type": "KeyError", "category": "transient", "priority": "10", "offers_replay": "on"}
    assert b"it would classify <b>3</b> differently" in operator.get("/dead-letters/rules/", rule).content
    operator.post("/dead-letters/rules/add/", rule)
    added = ClassificationRule.objects.get()
    assert added.added_by == "some-operator"
    operator.post(f"/dead-letters/rules/{added.pk}/remove/")
    assert not ClassificationRule.objects.exists()
    actions = (
        AuditEntry.objects.filter(action__startswith="rule.").order_by("id").values_list("action", flat=True)
    )
    assert list(actions) == ["rule.add", "rule.remove"]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"http_status": "999"}, "It must be a number from 100 to 599."),
        ({"category": ""}, "Choose one of transient, permanent,"),
        ({"priority": "high"}, "It must be a whole number; the smallest is asked first."),
    ],
)
def test_a_rule_that_makes_no_sense_is_told_what_would(
    operator: Client, wrong: dict[str, str], sentence: str
) -> None:
    rule = {"error_type": "KeyError", "category": "permanent", "priority": "100"} | wrong
    answer = operator.get("/dead-letters/rules/", rule)
    assert answer.status_code == 400
    assert sentence in answer.content.decode()


def test_a_rule_without_a_condition_is_refused(operator: Client) -> None:
    refused = operator.post("/dead-letters/rules/add/", {"category": "transient", "priority": "10"})
    assert (refused.status_code, b"at least one condition" in refused.content) == (400, True)


def test_links_lead_out_with_the_letters_values(viewer: Client, settings: Settings) -> None:
    settings.LINKS = {"Trace": "https://t.example/{trace_id}", "Tenant": "https://t.example/{tenant}"}
    record_failures([Failure(consumer="orders", event_id="e", error_type="E", trace_id="a/b c")])
    page = viewer.get(f"/dead-letters/letters/{DeadLetter.objects.get().pk}/").content.decode()
    assert 'href="https://t.example/a%2Fb%20c"' in page
    assert "Tenant" not in page


def test_the_overview_names_the_worst_groups(viewer: Client, letters: list[DeadLetter]) -> None:
    page = viewer.get("/").content.decode()
    assert "orders fails: KeyError: &#x27;currency&#x27;" in page
    assert "3 open letters" in page


def test_the_overview_names_the_source_of_a_group(viewer: Client) -> None:
    record_failures([Failure(source="warehouse", consumer="labels", event_id="e", error_type="E")])
    assert "warehouse/labels fails: E" in viewer.get("/").content.decode()


def test_whoever_can_do_nothing_with_letters_selects_none(
    viewer: Client, operator: Client, letters: list[DeadLetter]
) -> None:
    box = f'name="id" value="{letters[0].pk}"'
    assert box in operator.get("/dead-letters/letters/").content.decode()
    assert box not in viewer.get("/dead-letters/letters/").content.decode()
