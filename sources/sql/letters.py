"""Reading and writing a table of dead letters by its mapping; all that is compared is compared by the source itself."""

import codecs
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from psycopg.sql import SQL, Composable, Composed, Literal

from sources.base import Change, ForeignLetter, ForeignState, Found, Words
from sources.connect import Connection, reading, writing
from sources.sql import inspect
from sources.sql.mapping import Mapping, double, quote
from sources.sql.rows import RowReader, as_moment, list_state, make_state

# What looks at all open rows at once may take so many times longer: it happens once, at the first import. But never as
# long as the task that waits for it, see tasks.py.
PATIENCE = 12
MOST_SECONDS = 30
# As much of what rows hold is read at once, as it is stored there, which is mostly compressed; a thousand rows of a
# megabyte each would be too much for us, and for one document of a recording.
MOST_BYTES = 8_000_000
# SQL_ASCII takes bytes as they come.
HOLDS_ALL = ("UTF8", "SQL_ASCII")

# What pg_stat_all_tables shows. It is counted when a transaction ends, so it moves after a late commit too; and in
# the partitions of a table that has some.
COUNT_WRITES = """
SELECT concat_ws('/', sum(pg_stat_get_tuples_inserted(oid)), sum(pg_stat_get_tuples_updated(oid)),
                 sum(pg_stat_get_tuples_deleted(oid)))
FROM pg_class
WHERE relkind IN ('r', 'p', 'm') AND current_setting('track_counts')::bool
  AND oid = ANY(ARRAY(
      SELECT to_regclass(%(table)s)::oid UNION SELECT relid FROM pg_partition_tree(to_regclass(%(table)s))
  ))
HAVING count(*) > 0
"""
# Of a domain, what it is made of.
PAYLOAD_TYPE = """
SELECT coalesce(nullif(t.typbasetype, 0), t.oid)::regtype::text
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass(%(table)s) AND a.attname = %(payload)s
"""
# How many characters a column of text can hold; of a domain, what it is made of. No row: any number.
MOST_CHARACTERS = """
SELECT greatest(a.atttypmod, t.typtypmod) - 4 FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = to_regclass(%(table)s) AND a.attname = %(column)s AND greatest(a.atttypmod, t.typtypmod) > 4
  AND coalesce(nullif(t.typbasetype, 0), t.oid) IN ('varchar'::regtype, 'bpchar'::regtype)
"""
STATES = SQL("SELECT {state} FROM {table} WHERE {key} = ANY(%(keys)s)")
READ = SQL("SELECT {columns} FROM {table} WHERE {key} = ANY(%(keys)s)")
# With the table's name before the key: without it, the text that is selected would be sorted by.
NEWEST = SQL("SELECT {key}::text FROM {table} AS t WHERE t.{key} IS NOT NULL ORDER BY t.{key} DESC LIMIT 1")
# Of what is stored apart only the place is looked at.
SIZES = SQL("SELECT {key}::text, {size} FROM {table} WHERE {key} = ANY(%(keys)s)")
OPEN_SIZES = SQL(
    "SELECT {key}::text, {size} FROM {table} AS t WHERE {range} ORDER BY t.{key} LIMIT %(limit)s"
)
OPEN_ROWS = SQL("SELECT {columns} FROM {table} AS t WHERE {range} ORDER BY t.{key} LIMIT %(limit)s")
SPLIT = SQL("""
SELECT count({key}), (percentile_disc(%(shares)s::float[]) WITHIN GROUP (ORDER BY {key}))::text[]
FROM {table} WHERE {open}
""")
PICK = SQL("SELECT {key}::text FROM {table} WHERE {key} = ANY(%(keys)s) FOR NO KEY UPDATE SKIP LOCKED")
# Compare-and-set: the array finds the rows by their index, the values say what each must look like.
WRITE = SQL("""
UPDATE {table} AS t SET {assignments}
FROM unnest(%(keys)s::text[], %(seen)s::text[], %(failed)s::timestamptz[], %(by)s::text[], %(at)s::timestamptz[])
    AS v(key, seen, failed_at, closed_by, closed_at)
WHERE t.{key} = ANY(%(array)s) AND t.{key}::text = v.key AND t.{status}::text = v.seen
    AND coalesce({failed_at}, 'epoch') = v.failed_at
RETURNING v.key
""")


class SqlLetters:
    def __init__(self, connection: Connection, mapping: Mapping, seconds: float) -> None:
        self.connection = connection
        self.mapping = mapping
        self.seconds = seconds
        self.table = mapping.quoted
        self.key = quote(mapping.key)

    @cached_property
    def reader(self) -> RowReader:
        """Made when rows are read in full, which most looks do not."""
        names = {"table": self.mapping.identifier.as_string(self.connection), "payload": self.mapping.payload}
        rows = self._fetch(SQL(PAYLOAD_TYPE), params=names)
        return RowReader(self.mapping, str(rows[0][0]) if rows else "")

    @cached_property
    def most_by(self) -> int | None:
        """Characters of the name of who closed a row; None: any number."""
        names = {
            "table": self.mapping.identifier.as_string(self.connection),
            "column": self.mapping.closed_by,
        }
        rows = self._fetch(SQL(MOST_CHARACTERS), params=names)
        return int(rows[0][0]) if rows else None

    @property
    def words(self) -> Words:
        return self.mapping.words

    @property
    def keys_grow(self) -> bool:
        return self.mapping.key_grows

    def inspect(self) -> Found:
        return inspect.inspect(self.connection, self.mapping, self.seconds)

    def count_writes(self) -> str | None:
        rows = self._fetch(
            SQL(COUNT_WRITES), params={"table": self.mapping.identifier.as_string(self.connection)}
        )
        return str(rows[0][0]) if rows else None

    def find_newest_key(self) -> str:
        rows = self._fetch(NEWEST)
        return str(rows[0][0]) if rows else ""

    def read_open(self, *, after: str, until: str = "", limit: int) -> list[ForeignLetter]:
        params = {"after": after, "until": until, "limit": limit}
        while sizes := self._fetch(
            OPEN_SIZES, size=self._size(), range=self._range(after, until), params=params
        ):
            number = count_fitting(size for _, size in sizes)
            last = sizes[number - 1][0]
            rows = self._fetch(
                OPEN_ROWS,
                columns=SQL(", ").join(self.reader.letter),
                range=self._range(after, last),
                params=params | {"until": last},
            )
            if rows:
                return [self.reader.make_letter(row) for row in rows]
            # All of them were closed between the two questions, and there may be others behind them.
            params["after"] = after = last
        return []

    def list_open_keys(self, *, after: str, limit: int) -> list[str]:
        params = {"after": after, "limit": limit}
        rows = self._fetch(
            OPEN_ROWS, columns=SQL("{}::text").format(self.key), range=self._range(after), params=params
        )
        return [row[0] for row in rows]

    def find_states(self, keys: list[str]) -> dict[str, ForeignState]:
        rows = self._fetch(
            STATES,
            state=SQL(", ").join(list_state(self.mapping)),
            params={"keys": array(keys)},
        )
        states = [make_state(row) for row in rows]
        # Those that share a key are taken for one: the open one that failed last.
        states.sort(key=lambda state: (self.words.is_open(state.status), state.failed_at))
        return {state.key: state for state in states}

    def read(self, keys: list[str], *, limit: int) -> Iterator[list[ForeignLetter]]:
        columns = SQL(", ").join(self.reader.letter)
        while keys:
            sizes = dict(self._fetch(SIZES, size=self._size(), params={"keys": array(keys[:limit])}))
            number = count_fitting(sizes.get(key, 0) for key in keys[:limit])
            rows = self._fetch(READ, columns=columns, params={"keys": array(keys[:number])})
            yield [self.reader.make_letter(row) for row in rows]
            keys = keys[number:]

    def split_open(self, parts: int) -> tuple[int, list[str]]:
        shares = [n / parts for n in range(1, parts)]
        seconds = min(PATIENCE * self.seconds, MOST_SECONDS)
        [(number, keys)] = self._fetch(SPLIT, open=self._open(), params={"shares": shares}, seconds=seconds)
        return number, list(dict.fromkeys(keys or []))

    def write_status(self, changes: list[Change], *, skip_locked: bool = False) -> set[str]:
        """One statement for each word, all in one transaction."""
        done: set[str] = set()
        # Asked before anything is written, and not for rows that only are to be tried again.
        most = self.most_by if any(change.by for change in changes) else None
        with writing(self.connection, seconds=self.seconds) as cursor:
            if skip_locked:
                keys = array([change.seen.key for change in changes])
                cursor.execute(PICK.format(table=self.table, key=self.key), {"keys": keys})
                picked = {row[0] for row in cursor.fetchall()}
                changes = [change for change in changes if change.seen.key in picked]
            for word in sorted({change.status for change in changes}):
                these = [change for change in changes if change.status == word]
                statement = WRITE.format(
                    table=self.table,
                    key=self.key,
                    status=quote(self.mapping.status),
                    failed_at=as_moment("t", self.mapping.failed_at),
                    assignments=self._assignments(word),
                )
                cursor.execute(
                    statement,
                    {
                        "array": array([change.seen.key for change in these]),
                        "keys": [change.seen.key for change in these],
                        "seen": [change.seen.status for change in these],
                        "failed": [change.seen.failed_at for change in these],
                        "by": [self._spell(change.by)[:most] or None for change in these],
                        "at": [change.at for change in these],
                    },
                )
                done |= {row[0] for row in cursor.fetchall()}
        return done

    def _spell(self, name: str) -> str:
        """The name as the source's encoding can hold it; a character that it has not is written as its number.

        One name would otherwise keep a row, which is written with it, from ever being written.
        """
        encoding = self.connection.info.parameter_status("server_encoding") or "UTF8"
        if encoding in HOLDS_ALL:
            return name
        # Of those that Python has no name for, only ASCII is sure.
        codec = find_codec(encoding.replace("WIN", "cp")) or "ascii"
        return name.encode(codec, "backslashreplace").decode(codec)

    def _assignments(self, word: str) -> Composed:
        """A row that is asked to be tried again keeps what it says of its last closing."""
        sets = [SQL("{} = {}").format(quote(self.mapping.status), Literal(double(word)))]
        for column, value in ((self.mapping.closed_by, "closed_by"), (self.mapping.closed_at, "closed_at")):
            if column and word != self.words.retry:
                sets.append(SQL("{} = v.{}").format(quote(column), quote(value)))
        return SQL(", ").join(sets)

    def _size(self) -> Composable:
        """Of what may be long in a row."""
        mapping = self.mapping
        names = (mapping.payload, mapping.error_message, mapping.stacktrace)
        columns = [name for name in names if name and not name.startswith("$")]
        sizes = [SQL("coalesce(pg_column_size({}), 0)").format(quote(name)) for name in columns]
        return SQL(" + ").join(sizes)

    def _open(self) -> Composable:
        if not self.mapping.status:
            return SQL("true")
        # Literals and no parameters: the planner takes a partial index only if it can see the words.
        words = SQL(", ").join(Literal(double(word)) for word in self.words.open)
        return SQL("{} IN ({})").format(quote(self.mapping.status), words)

    def _range(self, after: str, until: str = "") -> Composable:
        # A text that is not yet typed becomes whatever the key is.
        parts = [self._open(), SQL("{} > %(after)s" if after else "{} IS NOT NULL").format(self.key)]
        if until:
            parts.append(SQL("{} <= %(until)s").format(self.key))
        return SQL(" AND ").join(parts)

    def _fetch(
        self,
        statement: SQL,
        params: dict[str, Any] | None = None,
        seconds: float | None = None,
        **parts: Composable,
    ) -> list[tuple[Any, ...]]:
        query = statement.format(table=self.table, key=self.key, **parts)
        with reading(self.connection, seconds=seconds or self.seconds) as cursor:
            # Even without a parameter: else what is doubled would stay so.
            cursor.execute(query, params or {})
            return cursor.fetchall()


def count_fitting(sizes: Iterable[int]) -> int:
    """How many may be read at once; the first is, whatever its size."""
    total = number = 0
    for size in sizes:
        total += size
        if number and total > MOST_BYTES:
            break
        number += 1
    return number


def find_codec(name: str) -> str:
    """Empty: Python has none of this name."""
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


def array(values: list[str]) -> str:
    """An array as text: untyped, so that it becomes an array of whatever it is compared with."""
    quoted = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join(f'"{value}"' for value in quoted) + "}"
