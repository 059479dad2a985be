import csv
from io import StringIO

import pytest
from django.db import DatabaseError, DataError, connection, transaction
from django.test import Client
from django.utils import timezone

from dashboard import audit
from dashboard.models import AuditEntry, Heartbeat
from dashboard.workers.heartbeats import beat

pytestmark = pytest.mark.django_db


def act(subject: str = "run 7", *, fail: bool = False, reason: str = "") -> None:
    with audit.action("run.pause", actor="olga", subject=subject, reason=reason):
        beat(Heartbeat.Kind.BEAT, "here", started_at=timezone.now())
        if fail:
            raise RuntimeError("it broke")


def test_an_action_leaves_an_entry() -> None:
    act(reason="because")
    entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action, entry.subject, entry.reason) == (
        "olga",
        "run.pause",
        "run 7",
        "because",
    )
    assert entry.outcome == "succeeded"


def test_a_failed_action_is_undone_and_leaves_an_entry() -> None:
    with pytest.raises(RuntimeError):
        act(fail=True)
    assert not Heartbeat.objects.exists()
    entry = AuditEntry.objects.get()
    assert (entry.outcome, entry.details) == ("failed", {"error": "RuntimeError: it broke"})


def test_what_the_database_repeats_of_a_value_is_in_no_entry() -> None:
    with (
        pytest.raises(DataError, match="alice"),
        audit.action("run.pause", actor="olga"),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT %s::jsonb", ['{"name": "alice", "a": Infinity}'])
    error = AuditEntry.objects.get().details["error"]
    assert error == "DataError: invalid input syntax for type json"


def test_an_action_that_nobody_documented_is_refused() -> None:
    with pytest.raises(KeyError), audit.action("run.explode", actor="olga"):
        pass


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE dashboard_auditentry SET actor = 'nobody'",
        "DELETE FROM dashboard_auditentry",
        "TRUNCATE dashboard_auditentry",
    ],
)
def test_the_database_refuses_to_change_the_trail(statement: str) -> None:
    act()
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)


@pytest.mark.parametrize(
    ("query", "subjects"),
    [
        ("", {"run 1", "run 2"}),
        ("?subject=run+1", {"run 1"}),
        ("?outcome=failed", {"run 2"}),
        ("?actor=nobody", set()),
        ("?action=run.pause&since=2000-01-01&until=2100-01-01", {"run 1", "run 2"}),
        ("?until=2000-01-01", set()),
    ],
)
def test_the_page_filters(viewer: Client, query: str, subjects: set[str]) -> None:
    act("run 1")
    with pytest.raises(RuntimeError):
        act("run 2", fail=True)
    shown = viewer.get(f"/audit/{query}").context["page"].rows
    assert {entry.subject for entry in shown if entry.subject.startswith("run")} == subjects


@pytest.mark.parametrize(
    "query", ["?since=yesterday", "?action=run.explode", "?after=nonsense", "?at=2026-01-01_1"]
)
def test_bad_input_gets_a_sentence(viewer: Client, query: str) -> None:
    assert viewer.get(f"/audit/{query}").status_code == 400


@pytest.mark.parametrize("query", ["?since=yesterday", "?since=0001-01-01", "?until=9999-12-31"])
def test_a_day_that_is_refused_is_told_which_days_there_are(viewer: Client, query: str) -> None:
    page = viewer.get(f"/audit/{query}").content.decode()
    assert "Write a day from 1970-01-01 to 2999-12-31, like 2026-02-28." in page
    assert "Ensure this value" not in page


def test_a_day_is_asked_for_with_its_zone(viewer: Client) -> None:
    page = viewer.get("/audit/").content.decode()
    assert "From (UTC)" in page
    assert "To (UTC)" in page


def test_a_name_that_is_too_long_is_told_how_long_it_can_be(viewer: Client) -> None:
    page = viewer.get("/audit/", {"actor": "x" * 151}).content.decode()
    assert "It can have at most 150 characters; this one has 151." in page


def test_the_reason_stands_apart_from_how_it_was_done(viewer: Client) -> None:
    with audit.action("run.pause", actor="olga", subject="run 7", reason="they migrate") as entry:
        entry.details = {"until": "noon"}
    assert 'they migrate <span class="dim">· until: noon</span>' in viewer.get("/audit/").content.decode()


def test_what_none_means_is_said_where_it_is_a_choice(viewer: Client) -> None:
    with audit.action("run.pause", actor="olga", subject="run 7") as entry:
        entry.details = {"pace": None, "stop_after": None, "until": None}
    page = viewer.get("/audit/").content.decode()
    for said in ("pace: unlimited", "stop after: never", "until: none"):
        assert said in page


def test_the_export_holds_what_the_filter_shows_and_no_formulas(admin: Client) -> None:
    act("=1+1")
    act("run 2")
    response = admin.post("/audit/export/", {"action": "run.pause"})
    rows = list(csv.DictReader(StringIO(b"".join(response).decode())))
    assert [row["subject"] for row in rows] == ["run 2", "'=1+1"]
    assert AuditEntry.objects.get(action="audit.export").details == {"filters": {"action": "run.pause"}}


def test_the_export_is_offered_with_the_filter_of_the_page(admin: Client) -> None:
    audit.record("run.pause", actor="olga", subject="run 1")
    assert (
        '<input type="hidden" name="actor" value="olga">' in admin.get("/audit/?actor=olga").content.decode()
    )


def test_hostile_text_stays_text(viewer: Client) -> None:
    act("<script>alert(1)</script>", reason="<img src=x onerror=alert(1)>")
    page = viewer.get("/audit/").content
    assert b"<script>alert" not in page
    assert b"<img src=x" not in page


def test_times_and_lists_are_said_as_on_other_pages(viewer: Client) -> None:
    with audit.action("run.pause", actor="olga", subject="run 7") as entry:
        entry.details = {
            "named": "2026-11-19",
            "until": "2026-11-19T23:14:02.919058+00:00",
            "letters": [156, 158],
            "skipped": [],
        }
    page = viewer.get("/audit/").content.decode()
    assert "named: 2026-11-19 · until: 2026-11-19 23:14:02 UTC · letters: 156, 158 · skipped: none" in page


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_that_no_zone_here_can_show_stands_as_it_was_given(viewer: Client, text: str) -> None:
    audit.record("letter.export", actor="olga", filters={"event_id": text})
    assert text in viewer.get("/audit/").content.decode().replace("&#43;", "+")
