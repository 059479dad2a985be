"""Downloads are written as they are read, however many rows there are."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.http import StreamingHttpResponse
from django.test import Client

from dashboard import audit
from dlq.api import record_failure

# Postgres writes all rows of a cursor down before it gives the first, if the cursor is to outlive its transaction.
CURSORS = "SELECT is_holdable FROM pg_cursors WHERE statement LIKE '%%SELECT%%'"

pytestmark = pytest.mark.django_db(transaction=True)


def list_cursors() -> list[bool]:
    with connection.cursor() as cursor:
        cursor.execute(CURSORS)
        return [is_holdable for (is_holdable,) in cursor.fetchall()]


def open_download(client: Client, kind: str) -> tuple[StreamingHttpResponse, Iterator[bytes]]:
    """A download of which the first row has been read."""
    if kind == "letters":
        record_failure(consumer="billing", event_id="e1", error_type="ValueError")
        answer = client.get("/dead-letters/export/?format=ndjson")
    else:
        audit.record("run.pause", actor="olga", subject="run 1")
        answer = client.post("/audit/export/")
    assert isinstance(answer, StreamingHttpResponse)
    lines = iter(answer)
    # A CSV begins with its header.
    while not list_cursors():
        next(lines)
    return answer, lines


@pytest.mark.parametrize("kind", ["letters", "audit"])
def test_a_download_begins_before_all_of_its_rows_are_read(admin: Client, kind: str) -> None:
    _, lines = open_download(admin, kind)
    assert list_cursors() == [False]
    list(lines)
    assert not connection.in_atomic_block


@pytest.mark.parametrize("kind", ["letters", "audit"])
def test_a_download_that_is_given_up_leaves_nothing_open(admin: Client, kind: str) -> None:
    answer, _ = open_download(admin, kind)
    assert connection.in_atomic_block
    answer.close()
    assert not connection.in_atomic_block
    assert list_cursors() == []
