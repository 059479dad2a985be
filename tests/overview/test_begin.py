"""The panel of an empty console says what to do first, and goes once something is there."""

import html
import json
import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from breakers.models import Breaker
from dashboard.memo import forget_all
from dashboard.overview.begin import is_untouched
from dlq.api import Failure, record_failures
from dlq.sampling import take_sample
from projections.declared import sync_declared
from projections.models import ForeignProjection, Projection
from sources.tokens.operations import create_token

pytestmark = pytest.mark.django_db
TITLE = "Begin here"


@pytest.fixture(autouse=True)
def _nothing_is_declared(db: None) -> None:
    """The tests' own apps declare projections, which are there since the database was made."""
    Projection.objects.all().delete()


def see(client: Client) -> str:
    return html.unescape(client.get("/").content.decode())


def fail() -> None:
    record_failures([Failure(consumer="billing", event_id="1", error_type="ValueError", error_message="no")])


def hear_of_a_foreign_projection() -> None:
    ForeignProjection.objects.create(source="orders", name="totals")


def test_it_names_each_way_and_who_may_make_a_token(admin: Client, viewer: Client) -> None:
    page = see(admin)
    assert TITLE in page
    for said in ("[sources.orders]", "manage.py sources check", "docs/push.md", "docs/projections.md"):
        assert said in page
    assert '<a href="/sources/tokens/">Report a failure</a>' in page
    page = see(viewer)
    assert TITLE in page
    assert "/sources/tokens/" not in page
    assert "An admin makes you a token" in page


@pytest.mark.parametrize(
    "happen",
    [fail, sync_declared, hear_of_a_foreign_projection, lambda: Breaker.objects.create(name="orders-api")],
    ids=["letter", "projection", "foreign projection", "breaker"],
)
def test_it_goes_once_something_is_there(viewer: Client, happen: Callable[[], object]) -> None:
    assert TITLE in see(viewer)
    happen()
    assert TITLE not in see(viewer)


def test_it_goes_once_a_source_is_named(viewer: Client, settings: Settings) -> None:
    settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": "postgresql://localhost/orders"}}
    assert TITLE not in see(viewer)


def test_the_line_that_it_shows_reports_a_failure(viewer: Client) -> None:
    _, secret = create_token("orders", note="", actor="tests")
    line = re.search(r"curl http://testserver(\S+) .*?-d '(.*?)'", see(viewer), re.DOTALL)
    assert line
    answer = Client().post(
        line[1], line[2], content_type="application/json", headers={"Authorization": f"Bearer {secret}"}
    )
    assert (answer.status_code, json.loads(answer.content)["recorded"]) == (202, 1)
    assert TITLE not in see(viewer)


def test_it_counts_no_rows_and_asks_no_more_than_it_must() -> None:
    with CaptureQueriesContext(connection) as queries:
        assert is_untouched(None)
    assert len(queries) == 4
    assert all(query["sql"].endswith("LIMIT 1") for query in queries)
    sync_declared()
    with CaptureQueriesContext(connection) as queries:
        assert not is_untouched(None)
    assert len(queries) == 1


def test_open_letters_that_beat_has_not_counted_are_not_said_to_be_none(viewer: Client) -> None:
    assert "Nothing is open" in see(viewer)
    assert "Not counted yet" not in see(viewer)
    # Counted while there was none.
    take_sample()
    fail()
    forget_all()
    page = see(viewer)
    assert "Not counted yet" in page
    assert "Nothing is open" not in page
