"""Bad input gets a sentence and a 4xx, whoever sends it."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from dashboard.models import AuditEntry
from tests.tally.operations import start_tally

pytestmark = pytest.mark.django_db


def test_a_nul_is_refused_without_a_session(client: Client) -> None:
    assert client.post("/login/", {"username": "bo\0ss", "password": "x"}).status_code == 400
    assert client.get("/login/?next=%00").status_code == 400
    # Shown as it would be written, and no more than some of it.
    assert (
        f"The field &#x27;a\\x00{'b' * 58}&#x27; holds"
        in client.get(f"/login/?a%00{'b' * 70}=1").content.decode()
    )


def test_a_nul_in_a_reason_is_refused_and_nothing_happens(operator: Client) -> None:
    run = start_tally(5)
    response = operator.post(f"/runs/{run.pk}/cancel/", {"reason": "a\0b"})
    assert response.status_code == 400
    assert "Nothing was changed: the field &#x27;reason&#x27; holds a NUL" in response.content.decode()
    run.refresh_from_db()
    assert run.state == "pending"


@pytest.mark.parametrize(
    "query",
    [
        "until=9999-12-31",
        "since=0001-01-01",
        "after=2026-01-01T00:00:00%2B23:59_0",
        "at=0001-01-01T00:00:00%2B10:00_1",
    ],
)
def test_dates_at_the_end_of_time(viewer: Client, query: str) -> None:
    answer = viewer.get(f"/audit/?{query}")
    assert answer.status_code == 400
    # Nobody asked for a change.
    assert b"Nothing was changed" not in answer.content


def test_a_strange_offset_in_a_cursor_is_read(viewer: Client) -> None:
    assert viewer.get("/audit/?after=2026-01-01T00:00:00%2B15:59:59.5_1").status_code == 200


def test_a_damaged_address_in_a_header(client: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://[bad"}
    assert client.get("/runs/", headers=headers)["HX-Redirect"] == "/login/?next=%2F"


def test_the_favicon_takes_any_number(client: Client) -> None:
    assert client.get("/favicon.svg?n=" + "9" * 5000).status_code == 200


def test_a_button_pressed_after_the_session_ended(client: Client) -> None:
    """Back on the page with a sentence, not on an address that only a button has."""
    response = client.post("/runs/3/pause/", headers={"Referer": "http://testserver/runs/3/"})
    assert response["Location"] == "/login/?next=%2Fruns%2F3%2F&nothing=changed"
    assert b"nothing was changed" in client.get(response["Location"]).content


def test_the_address_of_a_button_says_that_it_is_none(operator: Client) -> None:
    response = operator.get("/runs/3/pause/")
    assert (response.status_code, response["Allow"]) == (405, "POST")
    assert b"opening it changed nothing" in response.content


def test_entries_of_an_action_whose_code_is_gone_are_still_shown(viewer: Client) -> None:
    AuditEntry.objects.create(actor="somebody", action="demo.gone", outcome="succeeded")
    assert b"demo.gone" in viewer.get("/audit/").content


def test_a_file_that_anybody_sends_never_reaches_the_disk(
    client: Client, settings: Any, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "not there, so that writing to it would fail"
    response = client.post("/login/", {"username": "x", "password": "y", "file": BytesIO(b"x" * 3_000_000)})
    assert response.status_code == 401


def test_a_form_that_is_too_large_gets_a_sentence(operator: Client) -> None:
    response = operator.post("/dead-letters/rules/add/", {"runbook": "x" * 3_000_000})
    assert response.status_code == 413
    assert "A form can hold 2.5\xa0MB." in response.content.decode()


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/dead-letters/groups/999999/", "/dead-letters/"),
        ("/dead-letters/letters/999999/", "/dead-letters/letters/"),
        ("/dead-letters/?tab=none", "/dead-letters/"),
        ("/runs/999999/", "/runs/"),
        ("/projections/999999/", "/projections/"),
        ("/breakers/?state=ajar", "/breakers/"),
        ("/sources/no-such-source/", "/sources/"),
        ("/audit/?after=nonsense", "/audit/"),
    ],
)
def test_from_what_is_not_there_a_way_leads_to_its_list(operator: Client, path: str, address: str) -> None:
    answer = operator.get(path)
    assert answer.status_code in (400, 404)
    assert f'href="{address}"' in answer.content.decode()
