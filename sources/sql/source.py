"""A Postgres database as a source: its letters by a mapping, its checkpoints by whoever knows them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from sources.base import Ability, Capabilities, Found, Inspection, Words
from sources.checkpoints.contract import Checkpoints
from sources.checkpoints.told import Told
from sources.connect import Connection, connect
from sources.sql.letters import SqlLetters
from sources.sql.mapping import Mapping

# Makes the reader of checkpoints from a connection, the seconds that a statement may take, and what is told about them.
MakeCheckpoints = Callable[[Connection, float, Told], Checkpoints]


@dataclass(frozen=True)
class SqlSource:
    name: str
    kind: str
    # With its password: not among what a report of an error shows of a variable.
    dsn: str = field(repr=False)
    # No statement takes longer there.
    timeout_seconds: float
    retry_minutes: float
    retention_hours: float | None
    mapping: Mapping | None = None
    make_checkpoints: MakeCheckpoints | None = None
    # The application_name of its workers' sessions; empty: nobody said.
    worker: str = ""
    # Where something is missing by its nature, the sentence that says so.
    no_letters: str = ""
    no_checkpoints: str = ""

    @property
    def words(self) -> Words | None:
        return self.mapping.words if self.mapping else None

    @contextmanager
    def visit(self) -> Iterator["SqlVisit"]:
        with connect(self.dsn) as connection:
            yield SqlVisit(self, connection)


@dataclass(frozen=True)
class SqlVisit:
    source: SqlSource
    connection: Connection

    @cached_property
    def letters(self) -> SqlLetters | None:
        mapping = self.source.mapping
        return SqlLetters(self.connection, mapping, self.source.timeout_seconds) if mapping else None

    @cached_property
    def checkpoints(self) -> Checkpoints | None:
        source = self.source
        if source.make_checkpoints is None:
            return None
        return source.make_checkpoints(
            self.connection, source.timeout_seconds, Told(source.name, source.worker)
        )

    def inspect(self) -> Inspection:
        letters = self.letters.inspect() if self.letters else nothing(self.source.no_letters)
        checkpoints = self.checkpoints.inspect() if self.checkpoints else nothing(self.source.no_checkpoints)
        return Inspection(
            Capabilities(letters.reads, letters.writes, checkpoints.reads, checkpoints.writes),
            recognised=[*letters.recognised, *checkpoints.recognised],
            role=[*letters.role, *checkpoints.role],
        )


def nothing(why: str) -> Found:
    return Found(Ability(why), Ability(why))
