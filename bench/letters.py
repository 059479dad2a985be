"""A table full of letters with a realistic spread: 50 consumers, 200 event types, 500 groups, few of them common.

Common means Zipf: the first group has twice the letters of the second. 2 % are open, the newest of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

CHUNK = 100_000
OPEN_SHARE = 0.02

GROUPS = """
INSERT INTO dlq_failuregroup
    (fingerprint, error_key, source, consumer, error_type, normal_message, frame, title, mask_key, category,
     is_muted, assignee, note, ticket, blocked_sequence_count, parked_count)
SELECT 'bench-' || n, 'bench-' || n % 400, 'source-' || n % 3, 'consumer-' || n % 50,
       (ARRAY['ValueError', 'TimeoutError', 'KeyError', 'ConnectionRefusedError', 'HTTPError'])[1 + n % 5] || n / 50,
       'order <n> could not be handled', 'shop/handlers.py in apply_' || n, 'order <n> could not be handled', 0,
       (ARRAY['permanent', 'transient', 'permanent', 'dependency', 'poison'])[1 + n % 5], false, '', '', '', 0, 0
FROM generate_series(1, 500) AS n
"""

# Letters number first + 1 to last; groups ^ random() is Zipf's distribution over the groups.
LETTERS = """
WITH numbers AS MATERIALIZED (
    SELECT n, floor(%(groups)s ^ random())::int AS rank, floor(4 ^ random())::int AS kind, random() AS luck,
           random() AS more_luck
    FROM generate_series(%(first)s::bigint + 1, %(last)s) AS n
)
INSERT INTO dlq_deadletter (
    source, source_key, consumer, event_id, event_type, sequence_key, sequence_no, topic, error_type, summary, mask_key,
    category, classified_by, is_security, offers_replay, group_id, attempts, replays, first_failed_at, last_failed_at,
    status, tier, resolution, closed_by, closed_at, close_reason, trace_id, tenant, app_version, recorded_at)
SELECT g.source, '', g.consumer, 'event-' || n, 'Type' || (rank * 4 + kind) %% 200, 'order-' || n / 3, n %% 3, '',
       g.error_type, 'order ' || n || ' could not be handled', 0, g.category, 'bench', false, true, g.id,
       1 + floor(10 ^ more_luck)::int, 0, at, at,
       CASE WHEN is_open THEN 'failed' ELSE 'resolved' END,
       CASE WHEN g.category = 'poison' THEN 'poison' ELSE 'dead_letter' END,
       CASE WHEN is_open THEN '' ELSE 'by_hand' END, '', CASE WHEN is_open THEN NULL ELSE at END, '',
       'trace-' || n, 'tenant-' || n %% %(tenants)s, '1.' || n %% 7, at
FROM numbers
JOIN dlq_failuregroup g ON g.fingerprint = 'bench-' || rank,
LATERAL (SELECT now() - (%(total)s - n) * interval '1 second' AS at, luck < %(share)s AS is_open) AS facts
RETURNING id
"""

BODIES = r"""
INSERT INTO dlq_letterbody (letter_id, payload, payload_size, headers, error_message, stacktrace, words)
SELECT id,
       jsonb_build_object('order', jsonb_build_object('id', event_id, 'total', id %% 1000, 'status', 'paid'),
                          'customer', jsonb_build_object('name', 'customer ' || id %% 5000), 'note', repeat('x', 200)),
       400, '{}', summary, repeat('  File "/app/shop/handlers.py", line 10, in apply' || chr(10), 20),
       array_to_tsvector(array_remove(
           regexp_split_to_array(lower(error_type || ' ' || summary || ' word' || id %% 997), '[\W_]+'), ''))
FROM dlq_deadletter WHERE id BETWEEN %(first)s AND %(last)s
"""

ATTEMPTS = """
INSERT INTO dlq_attempt (letter_id, at, outcome, error_type, error_message, category, group_id)
SELECT id, last_failed_at, 'failed', error_type, summary, category, group_id
FROM dlq_deadletter WHERE id BETWEEN %(first)s AND %(last)s
"""

FACETS = """
INSERT INTO dlq_facet (kind, value)
SELECT 'consumer', 'consumer-' || n FROM generate_series(0, 49) AS n UNION ALL
SELECT 'event_type', 'Type' || n FROM generate_series(0, 199) AS n UNION ALL
SELECT 'source', 'source-' || n FROM generate_series(0, 2) AS n UNION ALL
SELECT DISTINCT 'error_type', error_type FROM dlq_failuregroup
"""

INDEXES = """
SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
WHERE indrelid = ANY(ARRAY['dlq_deadletter', 'dlq_letterbody', 'dlq_attempt']::regclass[]) AND NOT indisunique
"""


def empty() -> None:
    """No letter, and nothing that is known of one."""
    with connection.cursor() as cursor:
        cursor.execute(
            "TRUNCATE dlq_deadletter, dlq_letterbody, dlq_attempt, dlq_failuregroup, dlq_counter, "
            "dlq_counterdelta, dlq_failurebucket, dlq_categorybucket, dlq_depthsample, dlq_facet, dlq_groupfacet "
            "RESTART IDENTITY"
        )


def fill(total: int, *, open_share: float = OPEN_SHARE, groups: int = 500, tenants: int = 1000) -> None:
    """Make so many letters, counted by the triggers as in real life, and let Postgres know what it has."""
    from dlq.compaction import compact

    empty()
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.42)")
        cursor.execute(GROUPS)
        cursor.execute(FACETS)
        with in_a_hurry(), without_indexes():
            for first in range(0, total, CHUNK):
                chunk = {
                    "first": first,
                    "last": min(first + CHUNK, total),
                    "total": total,
                    "share": open_share,
                    "groups": groups,
                    "tenants": tenants,
                }
                cursor.execute(LETTERS, chunk)
                # A fresh table numbers its letters from one.
                for statement in (BODIES, ATTEMPTS):
                    cursor.execute(statement, chunk | {"first": first + 1})
        while compact():
            pass
        cursor.execute("VACUUM ANALYZE")


# Of the benchmark's own server, which nobody keeps.
HASTE = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "'16GB'", "maintenance_work_mem": "'1GB'"}


@contextmanager
def in_a_hurry() -> Iterator[None]:
    """As one would load a table for the first time; what is measured afterwards runs as it always does."""
    with connection.cursor() as cursor:
        for name, value in HASTE.items():
            cursor.execute(f"ALTER SYSTEM SET {name} = {value}")
        cursor.execute("SELECT pg_reload_conf()")
        yield
        cursor.execute("ALTER SYSTEM RESET ALL")
        cursor.execute("SELECT pg_reload_conf()")


@contextmanager
def without_indexes() -> Iterator[None]:
    """Indexes made afterwards are made in a fraction of the time."""
    with connection.cursor() as cursor:
        cursor.execute(INDEXES)
        indexes = cursor.fetchall()
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        for _, definition in indexes:
            cursor.execute(definition)
