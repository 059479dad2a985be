"""A panel that an app adds: shown to everybody, and put away by each for themselves."""

from collections.abc import Iterator

import pytest
from django.test import Client

from dashboard import overview_panels

pytestmark = pytest.mark.django_db


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, object]]:
    """A panel whose facts a test may change."""
    facts: dict[str, object] = {"shares": [{"label": "first step", "number": 1}]}
    monkeypatch.setattr(overview_panels, "_panels", {})
    overview_panels.register(
        "visit", title="A first visit", template="overview/_shares.html", find=lambda user: facts
    )
    return facts


def see(client: Client) -> str:
    return client.get("/").content.decode()


def test_it_is_put_away_by_one_and_stays_for_the_others(
    visit: object, viewer: Client, operator: Client
) -> None:
    assert "A first visit" in see(viewer)
    for _ in range(2):
        assert viewer.post("/panels/visit/dismiss/").status_code == 302
    assert "A first visit" not in see(viewer)
    assert "A first visit" in see(operator)


def test_a_panel_without_facts_is_not_shown(visit: dict[str, object], viewer: Client) -> None:
    visit.clear()
    assert "A first visit" not in see(viewer)


def test_there_is_no_such_panel(viewer: Client) -> None:
    assert viewer.post("/panels/other/dismiss/").status_code == 404
