"""Django's Postgres backend, to which a server that says nothing at all is one that is away.

`statement_timeout` is kept by the server. One that hangs (a frozen disk, a machine that was stopped) keeps nothing, and
who asked it would wait for ever.
"""

from typing import Any, TypeVar

from django.db.backends.postgresql import base
from psycopg import Connection, OperationalError
from psycopg.abc import PQGen
from psycopg.errors import _WaitTimeout

T = TypeVar("T")

# A connection that was kept is asked whether it still works; whoever lives answers at once.
HEALTH_CHECK_SECONDS = 3


class PatientConnection(Connection[Any]):
    # None: waits for ever.
    patience_seconds: float | None = None

    def wait(self, gen: PQGen[T], interval: float = 0.1, timeout: float | None = None) -> T:
        try:
            return super().wait(gen, interval, self.patience_seconds if timeout is None else timeout)
        except _WaitTimeout:
            # Who set a time themselves knows what to do.
            if timeout is not None:
                raise
            # An answer that comes later would be taken for the next question's.
            self.pgconn.finish()
            raise OperationalError(f"no answer for {self.patience_seconds:g} s") from None


class DatabaseWrapper(base.DatabaseWrapper):
    # None is for workers, whose statements take as long as they take; the web sets its own.
    patience_seconds: float | None = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> PatientConnection:
        connection = PatientConnection.connect(**conn_params)
        connection.patience_seconds = self.patience_seconds
        return connection

    def is_usable(self) -> bool:
        if self.connection is None or self.patience_seconds is None:
            return bool(super().is_usable())
        self.connection.patience_seconds = HEALTH_CHECK_SECONDS
        try:
            return bool(super().is_usable())
        finally:
            self.connection.patience_seconds = self.patience_seconds
