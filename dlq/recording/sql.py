"""The statements of recording; a batch travels as one JSON document, which is quicker than its values one by one.

Words come split, and Postgres takes them as they are: its own parser would take five times as long.
"""

# Values that filters offer; those that are known already cost a look and no write.
ADD_FACETS = """
INSERT INTO dlq_facet (kind, value)
SELECT kind, value FROM json_to_recordset(%(rows)s::json) AS f(kind text, value text) ORDER BY kind, value
ON CONFLICT DO NOTHING
"""

ADD_GROUP_FACETS = """
INSERT INTO dlq_groupfacet (group_id, kind, value, first_at)
SELECT group_id, kind, value, first_at
FROM json_to_recordset(%(rows)s::json) AS f(group_id bigint, kind text, value text, first_at timestamptz)
ORDER BY group_id, kind, value
ON CONFLICT DO NOTHING
"""

# Known groups, and when they were over: closed as a whole, or letter by letter. Of the latter the letter that failed
# last tells when, so that it is two probes of an index for a group, and no look at its history. An error that passes by
# itself is not over because a replay got through, nor is one that its owner has done with, who tries by himself.
FIND_GROUPS = """
SELECT g.fingerprint, g.id, coalesce(g.resolved_at, CASE
    WHEN g.category IN ('permanent', 'poison') AND (
        SELECT l.id FROM dlq_deadletter l WHERE l.group_id = g.id AND l.status = 'failed'
        ORDER BY l.last_failed_at LIMIT 1
    ) IS NULL THEN (
        SELECT CASE WHEN l.resolution <> 'at_source' THEN l.closed_at END
        FROM dlq_deadletter l WHERE l.group_id = g.id ORDER BY l.last_failed_at DESC, l.id DESC LIMIT 1
    ) END), g.retired_at
FROM dlq_failuregroup g WHERE g.fingerprint = ANY(%s)
"""

# A group that was about to be forgotten; one that is gone already is not returned.
REVIVE_GROUPS = """
UPDATE dlq_failuregroup SET retired_at = NULL WHERE id IN (
    SELECT id FROM dlq_failuregroup WHERE id = ANY(%s) ORDER BY id FOR UPDATE)
RETURNING id
"""

ADD_GROUPS = """
INSERT INTO dlq_failuregroup
    (fingerprint, error_key, source, consumer, error_type, normal_message, frame, title, mask_key, category,
     is_muted, assignee, note, ticket, blocked_sequence_count, parked_count)
SELECT fingerprint, error_key, source, consumer, error_type, normal_message, frame, title, mask_key, category,
       false, '', '', '', 0, 0
FROM json_to_recordset(%(rows)s::json) AS f(
    fingerprint text, error_key text, source text, consumer text, error_type text, normal_message text, frame text,
    title text, mask_key int, category text)
ORDER BY fingerprint
ON CONFLICT DO NOTHING
"""

# A group that failed again after it was closed; locked in order, as two writers may have the same groups.
REGRESS_GROUPS = """
UPDATE dlq_failuregroup g SET regressed_at = greatest(g.regressed_at, f.at), resolved_at = NULL
FROM (
    SELECT g.id, f.at
    FROM dlq_failuregroup g JOIN json_to_recordset(%(rows)s::json) AS f(id bigint, at timestamptz) USING (id)
    ORDER BY g.id FOR UPDATE OF g
) AS f
WHERE g.id = f.id
"""

# Letters that are new, with their bodies and their latest try, in the order given; the others are left alone and not
# returned. A try keeps the beginning of its error, as prepare.py describes it.
ADD_LETTERS = """
WITH given AS (
    SELECT * FROM json_to_recordset(%(rows)s::json) AS f(
        source text, source_key text, consumer text, event_id text, event_type text, sequence_key text,
        sequence_no bigint, position bigint, topic text, partition int, "offset" bigint, error_type text,
        summary text, mask_key int, category text, classified_by text, is_security bool, offers_replay bool,
        group_id bigint, attempts int, first_failed_at timestamptz, last_failed_at timestamptz, status text,
        tier text, trace_id text, tenant text, app_version text, payload text, payload_raw text, payload_size bigint,
        headers jsonb, error_message text, masked_message text, stacktrace text, words text, duration_ms int,
        run_id bigint)
), added AS (
    INSERT INTO dlq_deadletter (
        source, source_key, consumer, event_id, event_type, sequence_key, sequence_no, position, topic, partition,
        "offset", error_type, summary, mask_key, category, classified_by, is_security, offers_replay, group_id,
        attempts, replays, first_failed_at, last_failed_at, status, tier, resolution, closed_by, close_reason,
        trace_id, tenant, app_version, recorded_at)
    SELECT
        source, source_key, consumer, event_id, event_type, sequence_key, sequence_no, position, topic, partition,
        "offset", error_type, summary, mask_key, category, classified_by, is_security, offers_replay, group_id,
        attempts, 0, first_failed_at, last_failed_at, status, tier, '', '', '',
        trace_id, tenant, app_version, %(now)s
    FROM given
    ON CONFLICT (event_id, consumer, source) DO NOTHING
    RETURNING id, event_id, consumer, source
), bodies AS (
    INSERT INTO dlq_letterbody (
        letter_id, payload, payload_raw, payload_size, headers, error_message, masked_message, stacktrace, words)
    SELECT id, payload::jsonb, decode(payload_raw, 'base64'), payload_size, headers, error_message, masked_message,
           stacktrace, array_to_tsvector(string_to_array(words, ' '))
    FROM added JOIN given USING (event_id, consumer, source)
), tries AS (
    INSERT INTO dlq_attempt
        (letter_id, at, duration_ms, outcome, error_type, error_message, category, group_id, run_id)
    SELECT id, last_failed_at, duration_ms, 'failed', error_type,
           left(coalesce(masked_message, error_message), %(most)s), category, group_id, run_id
    FROM added JOIN given USING (event_id, consumer, source)
    WHERE status = 'failed'
)
SELECT event_id, consumer, source, id FROM added
"""

# Letters that were there before; by id, the order in which everybody locks letters.
LOCK_LETTERS = """
SELECT l.event_id, l.consumer, l.source, l.id, l.status, l.tier, l.attempts, l.first_failed_at, l.last_failed_at,
       l.closed_at, l.erased_at
FROM dlq_deadletter l
JOIN json_to_recordset(%(rows)s::json) AS f(event_id text, consumer text, source text)
    USING (event_id, consumer, source)
ORDER BY l.id FOR UPDATE OF l
"""

ADD_ATTEMPTS = """
INSERT INTO dlq_attempt
    (letter_id, at, duration_ms, outcome, error_type, error_message, category, group_id, run_id)
SELECT letter_id, last_failed_at, duration_ms, 'failed', error_type, error_message, category, group_id, run_id
FROM json_to_recordset(%(rows)s::json) AS f(
    letter_id bigint, last_failed_at timestamptz, duration_ms int, error_type text, error_message text,
    category text, group_id bigint, run_id bigint)
ORDER BY letter_id, last_failed_at
ON CONFLICT (letter_id, at) DO NOTHING
"""

# A known letter that failed later than we knew: the new error describes it. A replay knows no version to name.
REFRESH_LETTERS = """
WITH given AS (
    SELECT * FROM json_to_recordset(%(rows)s::json) AS f(
        id bigint, error_type text, summary text, mask_key int, category text, classified_by text, is_security bool,
        offers_replay bool, group_id bigint, first_failed_at timestamptz, last_failed_at timestamptz, status text,
        tier text, attempts int, app_version text, is_reopened bool, takes_payload bool, payload text,
        payload_raw text, payload_size bigint, headers jsonb, error_message text, masked_message text,
        stacktrace text, words text)
), bodies AS (
    UPDATE dlq_letterbody b SET
        error_message = f.error_message, masked_message = f.masked_message, stacktrace = f.stacktrace,
        words = array_to_tsvector(string_to_array(f.words, ' ')),
        payload = CASE WHEN f.takes_payload THEN f.payload::jsonb ELSE b.payload END,
        payload_raw = CASE WHEN f.takes_payload THEN decode(f.payload_raw, 'base64') ELSE b.payload_raw END,
        payload_size = CASE WHEN f.takes_payload THEN f.payload_size ELSE b.payload_size END,
        headers = CASE WHEN f.takes_payload THEN f.headers ELSE b.headers END
    FROM given f WHERE b.letter_id = f.id
)
UPDATE dlq_deadletter l SET
    error_type = f.error_type, summary = f.summary, category = f.category,
    mask_key = CASE WHEN f.mask_key <> 0 AND f.payload_size = 0 AND (l.erased_at IS NOT NULL OR EXISTS (
        SELECT FROM dlq_letterbody b WHERE b.letter_id = l.id AND b.payload_size > 0)) THEN %(unmasked)s
        ELSE f.mask_key END,
    classified_by = f.classified_by, is_security = f.is_security, offers_replay = f.offers_replay,
    group_id = f.group_id, first_failed_at = f.first_failed_at, last_failed_at = f.last_failed_at,
    app_version = coalesce(nullif(f.app_version, ''), l.app_version), status = f.status, tier = f.tier,
    attempts = greatest(f.attempts, (
        SELECT count(*) FROM dlq_attempt a WHERE a.letter_id = l.id AND a.outcome = 'failed')),
    resolution = CASE WHEN f.is_reopened THEN '' ELSE l.resolution END,
    closed_by = CASE WHEN f.is_reopened THEN '' ELSE l.closed_by END,
    close_reason = CASE WHEN f.is_reopened THEN '' ELSE l.close_reason END,
    closed_at = CASE WHEN f.is_reopened THEN NULL ELSE l.closed_at END
FROM given f WHERE l.id = f.id
"""

# A known letter of which an earlier try came to light; one that was known already changes nothing.
WIDEN_LETTERS = """
UPDATE dlq_deadletter l SET first_failed_at = f.first_failed_at, attempts = f.attempts
FROM (
    SELECT id, first_failed_at, greatest(attempts, (
        SELECT count(*) FROM dlq_attempt a WHERE a.letter_id = f.id AND a.outcome = 'failed')) AS attempts
    FROM json_to_recordset(%(rows)s::json) AS f(id bigint, first_failed_at timestamptz, attempts int)
) AS f
WHERE l.id = f.id AND (l.first_failed_at, l.attempts) IS DISTINCT FROM (f.first_failed_at, f.attempts)
"""
