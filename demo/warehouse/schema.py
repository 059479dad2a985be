"""The tables that eventsource-py's projections keep, as far as the warehouse uses them."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    global_position bigserial PRIMARY KEY,
    event_id uuid NOT NULL UNIQUE,
    aggregate_id uuid NOT NULL,
    aggregate_type varchar(255) NOT NULL,
    event_type varchar(255) NOT NULL,
    tenant_id uuid,
    actor_id varchar(255),
    version integer NOT NULL,
    timestamp timestamptz NOT NULL,
    payload jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT uq_events_aggregate_version UNIQUE (aggregate_id, aggregate_type, version)
);
CREATE INDEX IF NOT EXISTS idx_events_timestamp ON events (timestamp);
CREATE TABLE IF NOT EXISTS projection_checkpoints (
    projection_name varchar(255) PRIMARY KEY,
    last_event_id uuid,
    last_event_type varchar(255),
    last_processed_at timestamptz,
    global_position bigint,
    events_processed bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    position_token text
);
CREATE TABLE IF NOT EXISTS dead_letter_queue (
    id bigserial PRIMARY KEY,
    event_id uuid NOT NULL,
    projection_name varchar(255) NOT NULL,
    event_type varchar(255) NOT NULL,
    event_data jsonb NOT NULL,
    error_message text NOT NULL,
    error_stacktrace text,
    retry_count integer NOT NULL DEFAULT 0,
    first_failed_at timestamptz NOT NULL DEFAULT now(),
    last_failed_at timestamptz NOT NULL DEFAULT now(),
    status varchar(20) NOT NULL DEFAULT 'failed' CHECK (status IN ('failed', 'retrying', 'resolved')),
    resolved_at timestamptz,
    resolved_by varchar(255),
    CONSTRAINT uq_dlq_event_projection UNIQUE (event_id, projection_name)
);
CREATE INDEX IF NOT EXISTS idx_dlq_status ON dead_letter_queue (status);
CREATE INDEX IF NOT EXISTS idx_dlq_active_failures ON dead_letter_queue (first_failed_at)
    WHERE status IN ('failed', 'retrying');
"""

ADD_EVENT = """
INSERT INTO events (event_id, aggregate_id, aggregate_type, event_type, version, timestamp, payload, created_at)
VALUES (%(event_id)s, %(pallet)s, 'Pallet', %(type)s, %(version)s, %(at)s, %(payload)s, %(at)s)
"""

# Where each projection stands, and the events after it.
READ_NEXT = """
SELECT e.global_position, e.event_id, e.event_type, e.payload
FROM events e WHERE e.global_position > coalesce((
    SELECT (position_token::jsonb -> 'k' ->> 0)::bigint FROM projection_checkpoints WHERE projection_name = %(name)s
), 0)
ORDER BY e.global_position LIMIT %(limit)s
"""

MOVE_CHECKPOINT = """
INSERT INTO projection_checkpoints AS kept
    (projection_name, last_event_id, last_event_type, last_processed_at, events_processed, position_token)
VALUES (%(name)s, %(event_id)s, %(type)s, %(at)s, 1, %(token)s)
ON CONFLICT (projection_name) DO UPDATE SET
    last_event_id = excluded.last_event_id, last_event_type = excluded.last_event_type,
    last_processed_at = excluded.last_processed_at, events_processed = kept.events_processed + 1,
    position_token = excluded.position_token, updated_at = now()
"""

# As the library does it: a second failure of an event leaves who resolved the first, and when, as it was.
ADD_FAILURE = """
INSERT INTO dead_letter_queue
    (event_id, projection_name, event_type, event_data, error_message, error_stacktrace, retry_count,
     first_failed_at, last_failed_at)
VALUES (%(event_id)s, %(name)s, %(type)s, %(payload)s, %(message)s, %(trace)s, %(tries)s, %(at)s, %(at)s)
ON CONFLICT (event_id, projection_name) DO UPDATE SET
    retry_count = excluded.retry_count, last_failed_at = excluded.last_failed_at, status = 'failed',
    error_message = excluded.error_message, error_stacktrace = excluded.error_stacktrace
"""

LIST_RETRYING = """
SELECT id, event_id, projection_name, event_type, event_data, retry_count
FROM dead_letter_queue WHERE status = 'retrying' ORDER BY id LIMIT 50
"""

RESOLVE = """
UPDATE dead_letter_queue SET status = 'resolved', resolved_at = %(at)s, resolved_by = %(who)s
WHERE id = %(id)s AND status = 'retrying'
"""

# The warehouse forgets as the shop does; its own people settle the oldest failures.
FORGET = (
    "DELETE FROM events WHERE global_position <= (SELECT max(global_position) FROM events) - %(events)s",
    """DELETE FROM dead_letter_queue WHERE id IN (
        SELECT id FROM dead_letter_queue WHERE status = 'resolved' ORDER BY id DESC OFFSET %(letters)s)""",
    """UPDATE dead_letter_queue SET status = 'resolved', resolved_at = now(), resolved_by = 'warehouse' WHERE id IN (
        SELECT id FROM dead_letter_queue WHERE status = 'failed' ORDER BY id DESC OFFSET %(letters)s)""",
)
