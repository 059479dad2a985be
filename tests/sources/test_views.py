"""A view in the place of a table: what it shows is read, and what Postgres lets through is written."""

from collections.abc import Callable, Iterator

import pytest
from django.utils import timezone

from dlq.models import DeadLetter
from sources.models import SourceState
from tests.sources.foreign import Foreign

pytestmark = pytest.mark.django_db(transaction=True)
Sync = Callable[..., SourceState]
# Its status is what its owner's table means, in other words.
COMPUTED = 'SELECT id, "Handler", message_id, body, error, state::text AS state, failed, tries, done_by'


@pytest.fixture
def make_view(make_foreign: Callable[..., Foreign]) -> Iterator[Callable[[str], Foreign]]:
    """A source whose table is this view of a table of failures."""
    foreign = make_foreign("sql", table="failures")

    def make(select: str) -> Foreign:
        foreign.execute(f"CREATE VIEW failures AS {select}")
        return foreign

    yield make
    foreign.execute("DROP VIEW failures")


def test_a_view_of_one_table_is_read_and_written_like_it(
    make_view: Callable[[str], Foreign], sync: Sync
) -> None:
    foreign = make_view("SELECT * FROM failed_messages WHERE tries > 0")
    first, second = foreign.add(2)
    state = sync()
    assert (state.error, state.inspection["why_not"]["writes_status"]) == ("", "")
    assert "failures: 9 columns, all that are needed are there." in state.inspection["recognised"]
    # Whether there is an index below it nobody can tell from here.
    assert not any("no index" in sentence for sentence in state.inspection["recognised"])
    DeadLetter.objects.filter(source_key=first).update(
        status="resolved", closed_by="alice", closed_at=timezone.now()
    )
    foreign.set_status(second, "done")
    assert sync().error == ""
    assert foreign.get_status(first) == ("done", "alice")
    assert DeadLetter.objects.get(source_key=second).resolution == "at_source"


@pytest.mark.parametrize(
    ("select", "columns"),
    [
        ("SELECT m.* FROM failed_messages m JOIN (VALUES (1)) AS v(n) ON true", "state, done_by"),
        (f"{COMPUTED} FROM failed_messages", "state"),
    ],
)
def test_a_view_that_joins_or_computes_is_read_and_says_what_cannot_be_written(
    make_view: Callable[[str], Foreign], sync: Sync, select: str, columns: str
) -> None:
    foreign = make_view(select)
    foreign.add()
    state = sync()
    assert state.error == ""
    assert (
        state.inspection["why_not"]["writes_status"]
        == f"failures is a view, or the like, through which nobody can write {columns}."
    )
    assert DeadLetter.objects.get().status == "failed"


def test_a_view_that_computes_may_say_itself_how_it_is_written(
    make_view: Callable[[str], Foreign], sync: Sync
) -> None:
    foreign = make_view(f"{COMPUTED} FROM failed_messages")
    foreign.execute("""
        CREATE FUNCTION write_down() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            UPDATE failed_messages SET state = new.state::message_state, done_by = new.done_by WHERE id = new.id;
            RETURN new; END $$;
        CREATE TRIGGER write_down INSTEAD OF UPDATE ON failures FOR EACH ROW EXECUTE FUNCTION write_down()""")
    [key] = foreign.add()
    assert sync().inspection["why_not"]["writes_status"] == ""
    DeadLetter.objects.update(status="resolved", closed_by="alice", closed_at=timezone.now())
    assert sync().error == ""
    assert foreign.get_status(key) == ("done", "alice")
    foreign.execute("DROP FUNCTION write_down CASCADE")
