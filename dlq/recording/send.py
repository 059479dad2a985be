import json
from datetime import datetime
from typing import Any

from django.db import connection


def send(statement: str, rows: list[dict[str, Any]]) -> None:
    """Execute a statement on rows, which it gets as one JSON document."""
    if rows:
        with connection.cursor() as cursor:
            cursor.execute(statement, [write(rows)])


def fetch(statement: str, rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The same for a statement that answers."""
    if not rows:
        return []
    with connection.cursor() as cursor:
        cursor.execute(statement, [write(rows)])
        return list(cursor.fetchall())


def write(rows: list[dict[str, Any]]) -> str:
    return json.dumps(rows, ensure_ascii=False, default=datetime.isoformat)
