"""A row may hold anything that its columns can: it arrives all the same, and keeps nothing else from arriving."""

from collections.abc import Callable
from typing import Any

import pytest

from dlq.models import DeadLetter
from sources.models import ForeignRow, MovedRow, OwedWrite, SourceState
from tests.sources.foreign import Foreign

pytestmark = pytest.mark.django_db
Sync = Callable[..., SourceState]


@pytest.mark.parametrize("number", ['"--5"', f'"{"9" * 5000}"', "9" * 5000, "1e400", "null", "{}"])
@pytest.mark.parametrize("kind", ["eventsource-py", "bytea"])
def test_a_place_that_is_no_number(
    make_foreign: Callable[..., Foreign], sync: Sync, kind: str, number: str
) -> None:
    more = {"sequence_no": "$.aggregate_version"} if kind == "bytea" else {}
    foreign = make_foreign(kind, **more)
    odd = foreign.add_one(payload=f'{{"aggregate_id": "order-9", "aggregate_version": {number}}}')
    [other] = foreign.add(sequence="order-9")
    assert sync().error == ""
    places = dict(DeadLetter.objects.values_list("source_key", "sequence_no"))
    assert places == {odd: 0, other: 1}


@pytest.mark.parametrize(
    "failed_at", ["infinity", "-infinity", "20000-01-01 00:00", "0044-03-15 00:00 BC", None]
)
@pytest.mark.parametrize("kind", ["platform-services", "sql"])
def test_a_time_that_never_was(
    make_foreign: Callable[..., Foreign], sync: Sync, kind: str, failed_at: str | None
) -> None:
    foreign = make_foreign(kind)
    column = "failed" if kind == "sql" else "failed_at"
    foreign.execute(f"ALTER TABLE {foreign.table} ALTER {column} DROP NOT NULL")
    odd, _ = foreign.add(2)
    change = f"UPDATE {foreign.table} SET {column} = %(at)s WHERE {foreign.key} = %(key)s"  # noqa: S608
    foreign.execute(change, at=failed_at, key=odd)
    assert sync().error == ""
    assert DeadLetter.objects.count() == 2
    assert ForeignRow.objects.get(key=odd).failed_at.year == 1970
    DeadLetter.objects.filter(source_key=odd).update(
        status="resolved", resolution="by_hand", closed_by="alice"
    )
    assert sync().error == ""
    assert foreign.get_status(odd)[0] == foreign.words["resolved"]
    assert (MovedRow.objects.count(), OwedWrite.objects.count()) == (0, 0)
    assert DeadLetter.objects.get(source_key=odd).status == "resolved"


@pytest.mark.parametrize(
    ("tries", "attempts"),
    [("NaN", 1), ("Infinity", 1), ("-3", 1), ("2.5", 2), ("1e20", 2**31 - 1), (None, 1)],
)
def test_a_count_that_nobody_counts_to(
    make_foreign: Callable[..., Foreign], sync: Sync, tries: str | None, attempts: int
) -> None:
    foreign = make_foreign("sql")
    foreign.execute("ALTER TABLE failed_messages ALTER tries TYPE numeric, ALTER tries DROP NOT NULL")
    foreign.add(2)
    foreign.execute(
        "UPDATE failed_messages SET tries = %(tries)s WHERE id = (SELECT min(id) FROM failed_messages)",
        tries=tries,
    )
    for _ in range(2):
        assert sync().error == ""
    assert sorted(ForeignRow.objects.values_list("attempts", flat=True)) == sorted([attempts, 3])


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"failed_at": "id"}, "id of failed_messages is integer; failed_at must be a timestamp."),
        ({"failed_at": "error"}, "error of failed_messages is text; failed_at must be a timestamp."),
        (
            {"first_failed_at": "error"},
            "error of failed_messages is text; first_failed_at must be a timestamp.",
        ),
        ({"attempts": "error"}, "error of failed_messages is text; attempts must be a number."),
    ],
)
def test_a_column_of_another_type_is_refused_in_one_sentence(
    make_foreign: Callable[..., Foreign], sync: Sync, mapping: dict[str, Any], sentence: str
) -> None:
    make_foreign("sql", **mapping).add()
    state = sync()
    assert (state.error, state.is_permanent) == (sentence, True)


@pytest.mark.parametrize(
    ("mapping", "sentence"),
    [
        ({"closed_by": "id"}, "id of failed_messages is integer; closed_by must be text, or be left out."),
        (
            {"closed_at": "id"},
            "id of failed_messages is integer; closed_at must be a timestamp, or be left out.",
        ),
    ],
)
def test_a_column_that_could_not_be_written_is_told_before_anybody_tries(
    make_foreign: Callable[..., Foreign], sync: Sync, mapping: dict[str, Any], sentence: str
) -> None:
    make_foreign("sql", **mapping).add()
    state = sync()
    assert (state.error, state.inspection["why_not"]["writes_status"]) == ("", sentence)


def test_a_domain_is_what_it_is_made_of(make_foreign: Callable[..., Foreign], sync: Sync) -> None:
    foreign = make_foreign("sql")
    foreign.execute(
        """
        CREATE DOMAIN moment AS timestamptz; CREATE DOMAIN number AS bigint CHECK (value >= 0);
        ALTER TABLE failed_messages ALTER failed DROP DEFAULT, ALTER failed TYPE moment, ALTER tries TYPE number
        """
    )
    foreign.add()
    foreign.execute("UPDATE failed_messages SET failed = now()")
    assert sync().error == ""
    assert DeadLetter.objects.get().attempts == 3


@pytest.mark.parametrize(
    ("base", "convert", "raw"),
    [("bytea", "body", b'{"total": 1}'), ("jsonb", "convert_from(body, 'UTF8')", None)],
)
def test_a_payload_of_a_domain_too(
    make_foreign: Callable[..., Foreign], sync: Sync, base: str, convert: str, raw: bytes | None
) -> None:
    foreign = make_foreign("bytea", payload="sent", sequence="$.total")
    foreign.execute(f"CREATE DOMAIN message AS {base}; ALTER TABLE failed_messages ADD sent message")
    try:
        foreign.add(payload='{"total": 1}')
        foreign.execute(f"UPDATE failed_messages SET sent = ({convert})::{base}")  # noqa: S608
        assert sync().error == ""
        letter = DeadLetter.objects.select_related("body").get()
        assert (letter.sequence_key, letter.body.payload) == ("1", {"total": 1})
        assert (letter.body.payload_raw and bytes(letter.body.payload_raw)) == raw
    finally:
        foreign.execute("DROP DOMAIN message CASCADE")


@pytest.mark.parametrize("body", ["text", "jsonb"])
@pytest.mark.parametrize(
    ("path", "sequence"), [("lines.1.sku", "b"), ("lines.-1.sku", "b"), ("lines.2.sku", ""), ("lines.x", "")]
)
def test_a_path_into_an_array_leads_to_the_same_wherever_it_is_followed(
    make_foreign: Callable[..., Foreign], sync: Sync, settings: Any, body: str, path: str, sequence: str
) -> None:
    foreign = make_foreign("sql", sequence=f"$.{path}")
    settings.CONSUMERS = {"orders/Other": {"sequence": f"$.{path}"}}
    foreign.execute(f"ALTER TABLE failed_messages ALTER body TYPE {body} USING body::{body}")
    try:
        for consumer in ("OrderSummary", "Other"):
            foreign.add(payload='{"lines": [{"sku": "a"}, {"sku": "b"}]}', consumer=consumer)
        assert sync().error == ""
        assert list(DeadLetter.objects.values_list("sequence_key", flat=True)) == [sequence, sequence]
    finally:
        foreign.execute("ALTER TABLE failed_messages ALTER body TYPE text")


def test_rows_without_a_key_are_not_read_and_the_source_says_so(
    make_foreign: Callable[..., Foreign], sync: Sync
) -> None:
    foreign = make_foreign("sql", key="message_id")
    foreign.execute("ALTER TABLE failed_messages ALTER message_id DROP NOT NULL")
    try:
        for key in foreign.add(3)[:2]:
            foreign.execute("UPDATE failed_messages SET message_id = NULL WHERE id = %(key)s", key=key)
        state = sync()
        assert state.error == ""
        assert DeadLetter.objects.count() == 1
        told = "message_id may be NULL: nothing tells rows without it apart, so they are not read."
        assert told in state.inspection["recognised"]
    finally:
        foreign.execute("TRUNCATE failed_messages")
        foreign.execute("ALTER TABLE failed_messages ALTER message_id SET NOT NULL")


@pytest.mark.parametrize(
    ("column", "written"),
    [
        ("varchar(5)", "olga."),
        ("char(5)", "olga."),
        ("short", "olga."),
        ("varchar", "olga.andersson"),
        ("name", None),
    ],
)
def test_a_name_that_is_too_long_for_its_column_is_cut(
    make_foreign: Callable[..., Foreign], sync: Sync, column: str, written: str | None
) -> None:
    foreign, name = make_foreign("sql"), "olga.andersson" if written else "o" * 100
    foreign.execute("CREATE DOMAIN short AS varchar(5)")
    foreign.execute(f"ALTER TABLE failed_messages ALTER done_by TYPE {column}")
    try:
        [key] = foreign.add()
        sync()
        DeadLetter.objects.update(status="resolved", resolution="by_hand", closed_by=name)
        assert sync().error == ""
        assert foreign.get_status(key) == ("done", written or "o" * 63)
        assert not OwedWrite.objects.exists()
    finally:
        foreign.execute("ALTER TABLE failed_messages ALTER done_by TYPE text")
        foreign.execute("DROP DOMAIN short")


def test_names_and_words_may_hold_a_percent_sign(make_foreign: Callable[..., Foreign], sync: Sync) -> None:
    names = {
        "resolved": "100%s",
        "open": ["50%", "0%"],
        "retry": "0%",
        "status": "is%s",
        "error_message": "why%",
    }
    foreign = make_foreign("sql", table="odd%t", **names)
    foreign.execute("""
        CREATE TABLE "odd%%t" (LIKE failed_messages INCLUDING DEFAULTS);
        ALTER TABLE "odd%%t" RENAME state TO "is%%s";
        ALTER TABLE "odd%%t" RENAME error TO "why%%";
        ALTER TABLE "odd%%t" ALTER "is%%s" DROP DEFAULT;
        ALTER TABLE "odd%%t" ALTER "is%%s" TYPE text
    """)
    try:
        foreign.execute("""
            INSERT INTO "odd%%t" ("Handler", message_id, body, "why%%", "is%%s") VALUES ('a', 'b', '{}', 'c', '50%%')
        """)
        assert sync().error == ""
        DeadLetter.objects.update(status="resolved", resolution="by_hand", closed_by="100%s")
        assert sync().error == ""
        assert foreign.execute('SELECT "is%%s", done_by FROM "odd%%t" WHERE %(x)s', x=True) == [
            ("100%s", "100%s")
        ]
        assert not OwedWrite.objects.exists()
    finally:
        foreign.execute('DROP TABLE "odd%%t"')
