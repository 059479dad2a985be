"""Rows that have no key of their own, and rows that change between two questions."""

from collections.abc import Callable

import pytest

from dlq.models import DeadLetter
from sources.models import ForeignRow, SourceState
from sources.registry import get_source
from sources.sql import letters
from tests.sources.foreign import Foreign

pytestmark = pytest.mark.django_db
Sync = Callable[..., SourceState]
Do = Callable[..., None]


def test_rows_that_share_a_key_are_taken_for_one(
    make_foreign: Callable[..., Foreign], sync: Sync, do: Do
) -> None:
    foreign = make_foreign("sql")
    first, second, third = foreign.add(3)
    [(second_event,)] = foreign.execute(
        "SELECT message_id FROM failed_messages WHERE id = %(key)s", key=second
    )
    foreign.execute("ALTER TABLE failed_messages DROP CONSTRAINT failed_messages_pkey")
    foreign.execute("UPDATE failed_messages SET id = %(key)s WHERE id = %(other)s", key=first, other=second)
    try:
        assert sync().error == ""
        assert dict(DeadLetter.objects.values_list("source_key", "status")) == {
            first: "failed",
            third: "failed",
        }
        letter = DeadLetter.objects.get(source_key=first)
        assert letter.event_id == second_event
        # The one that is left changes nothing of it, however often it is seen.
        assert sync().error == ""
        assert list(DeadLetter.objects.filter(source_key=first)) == [letter]
        do("resolve", letter)
        assert sync().error == ""
        # Now it is the other one's turn.
        other = DeadLetter.objects.exclude(pk=letter.pk).get(source_key=first)
        assert (other.status, ForeignRow.objects.get(key=first).letter_id) == ("failed", other.pk)
        do("resolve", other)
        assert sync().error == ""
        assert not DeadLetter.objects.filter(source_key=first, status="failed").exists()
        assert not foreign.execute(
            "SELECT FROM failed_messages WHERE id = %(key)s AND state <> 'done'", key=first
        )
    finally:
        foreign.execute("TRUNCATE failed_messages")
        foreign.execute("ALTER TABLE failed_messages ADD PRIMARY KEY (id)")


def test_rows_that_are_closed_between_two_questions_hide_none_behind_them(
    make_foreign: Callable[..., Foreign], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letters, "MOST_BYTES", 1)
    foreign = make_foreign("sql", table="passing", status="says")
    closing, last = foreign.add(2)
    # Its first row is open to the first question, and closed to any other.
    foreign.execute(f"""
        CREATE VIEW passing AS SELECT *, CASE
            WHEN id = {closing} AND current_query() NOT LIKE '%%pg_column_size%%' THEN 'done' ELSE 'new' END AS says
        FROM failed_messages""")  # noqa: S608
    try:
        with get_source("orders").visit() as visit:
            assert visit.letters
            rows = visit.letters.read_open(after="", limit=10)
            assert [row.key for row in rows] == [last]
    finally:
        foreign.execute("DROP VIEW passing")
