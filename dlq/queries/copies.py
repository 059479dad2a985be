"""Of the letters that a replay takes, those whose event the broker has forgotten."""

from typing import Any

from sources.api import list_retention

# A count stops here.
MOST_COPIES = 10_000

# Goes on from `judged`. Where nobody said how long events are kept, it looks at nothing.
ONLY_COPIES = f"""
SELECT 'only_copies', '', '', '', count(*) FROM (
    SELECT 1 FROM judged j JOIN dlq_deadletter l ON l.id = j.id
    JOIN dlq_letterbody b ON b.letter_id = l.id AND b.payload_size > 0
    LEFT JOIN unnest(%s::text[], %s::float[]) AS t(topic, hours) ON t.topic = l.topic
    LEFT JOIN unnest(%s::text[], %s::float[]) AS s(source, hours) ON s.source = l.source
    WHERE %s AND j.fate = ANY(%s)
        AND l.first_failed_at <= now() - make_interval(secs => 3600 * coalesce(t.hours, s.hours))
    LIMIT {MOST_COPIES + 1}
) AS forgotten
"""  # noqa: S608


def list_values(fates: list[str]) -> list[Any]:
    """The parameters of ONLY_COPIES."""
    topics, sources = list_retention()
    is_known = bool(topics or sources)
    return [list(topics), list(topics.values()), list(sources), list(sources.values()), is_known, fates]
