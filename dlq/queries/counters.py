"""Reading the counters: what was folded plus what was appended since, in one statement."""

from typing import Any

from django.db import connection

# Optional conditions as static SQL: NULL means any.
SUM = """
SELECT coalesce(sum(number), 0) FROM dlq_counted
WHERE (%(source)s::text IS NULL OR source = %(source)s)
    AND (%(consumer)s::text IS NULL OR consumer = %(consumer)s)
    AND (%(group)s::bigint IS NULL OR group_id = %(group)s)
    AND (%(error_type)s::text IS NULL OR error_type = %(error_type)s)
    AND (%(category)s::text IS NULL OR category = %(category)s)
    AND (%(tier)s::text IS NULL OR tier = %(tier)s)
    AND (%(statuses)s::text[] IS NULL OR status = ANY(%(statuses)s))
"""
STATUSES = {"open": ["failed"], "closed": ["resolved", "discarded"], "any": None}
NAMES = ("source", "consumer", "group", "error_type", "category", "tier")


def count_by(wanted: dict[str, Any]) -> int:
    """How many letters the counters know to match; `wanted` may name only what they count by."""
    status = wanted["status"]
    params = {name: wanted.get(name) for name in NAMES} | {"statuses": STATUSES.get(status, [status])}
    with connection.cursor() as cursor:
        cursor.execute(SUM, params)
        return int(cursor.fetchone()[0])
