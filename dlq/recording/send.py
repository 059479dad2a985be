import json
from datetime import datetime
from typing import Any

from django.db import connection
from psycopg import Cursor


def send(statement: str, rows: list[dict[str, Any]]) -> None:
    """Execute a statement on rows, which it gets as one JSON document."""
    if rows:
        execute(statement, rows)


def fetch(statement: str, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The same for a statement that answers."""
    return execute(statement, rows).fetchall() if rows else []


def execute(statement: str, rows: list[dict[str, Any]]) -> "Cursor[tuple[Any, ...]]":
    """The document goes beside the statement: Django would write it inside, as a literal of a megabyte."""
    connection.ensure_connection()
    with connection.wrap_database_errors:
        return Cursor(connection.connection).execute(statement, [write(rows)])


def write(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, ensure_ascii=False, default=datetime.isoformat)
