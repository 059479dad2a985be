"""Statements on many rows, which they get as one JSON document: hundreds of parameters take longer than the work."""

from typing import Any

import orjson
from django.db import connection
from psycopg import Cursor

Rows = list[dict[str, Any]]


def send(statement: str, rows: Rows, **values: Any) -> None:
    """Execute a statement on rows, which it knows as %(rows)s."""
    if rows:
        execute(statement, rows, values)


def fetch(statement: str, rows: Rows, **values: Any) -> list[tuple[Any, ...]]:
    """The same for a statement that answers."""
    return execute(statement, rows, values).fetchall() if rows else []


def execute(statement: str, rows: Rows, values: dict[str, Any]) -> "Cursor[tuple[Any, ...]]":
    """The document goes beside the statement: Django would write it inside, as a literal of a megabyte."""
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return Cursor(connection.connection).execute(
            statement, {"rows": orjson.dumps(rows).decode(), **values}
        )
