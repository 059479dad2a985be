from django.db import migrations

# Each statement on letters appends what it changed, summed by key: nobody waits for a counter's row. Postgres
# gives transition tables only to triggers of one event, hence three of them.
LETTER_COUNTERS = """
CREATE FUNCTION dlq_count_added() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dlq_counterdelta
        (source, consumer, group_id, error_type, category, tier, status, number, first_at, last_at)
    SELECT source, consumer, coalesce(group_id, 0), error_type, category, tier, status,
           count(*), min(first_failed_at), max(last_failed_at)
    FROM added GROUP BY 1, 2, 3, 4, 5, 6, 7;
    RETURN NULL;
END $$;

CREATE FUNCTION dlq_count_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dlq_counterdelta
        (source, consumer, group_id, error_type, category, tier, status, number, first_at, last_at)
    SELECT source, consumer, coalesce(group_id, 0), error_type, category, tier, status,
           -count(*), min(first_failed_at), max(last_failed_at)
    FROM removed GROUP BY 1, 2, 3, 4, 5, 6, 7;
    RETURN NULL;
END $$;

-- A letter that fails again under the same key changes no number, but when the key was last seen.
CREATE FUNCTION dlq_count_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dlq_counterdelta
        (source, consumer, group_id, error_type, category, tier, status, number, first_at, last_at)
    SELECT source, consumer, coalesce(group_id, 0), error_type, category, tier, status,
           sum(n), min(first_failed_at), max(last_failed_at)
    FROM (
        SELECT -1 AS n, source, consumer, group_id, error_type, category, tier, status, first_failed_at, last_failed_at
        FROM removed
        UNION ALL
        SELECT 1, source, consumer, group_id, error_type, category, tier, status, first_failed_at, last_failed_at
        FROM added
    ) AS changed
    GROUP BY 1, 2, 3, 4, 5, 6, 7
    HAVING sum(n) <> 0
        OR max(last_failed_at) FILTER (WHERE n = 1) > max(last_failed_at) FILTER (WHERE n = -1)
        OR min(first_failed_at) FILTER (WHERE n = 1) < min(first_failed_at) FILTER (WHERE n = -1);
    RETURN NULL;
END $$;

CREATE TRIGGER dlq_letter_added AFTER INSERT ON dlq_deadletter
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION dlq_count_added();
CREATE TRIGGER dlq_letter_removed AFTER DELETE ON dlq_deadletter
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION dlq_count_removed();
CREATE TRIGGER dlq_letter_changed AFTER UPDATE ON dlq_deadletter
    REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION dlq_count_changed();
"""

# What a figure is read from: the tallies as folded, and what came since.
COUNTED = """
CREATE VIEW dlq_counted AS
SELECT source, consumer, group_id, error_type, category, tier, status, number, first_at, last_at FROM dlq_counter
UNION ALL
SELECT source, consumer, group_id, error_type, category, tier, status, number, first_at, last_at FROM dlq_counterdelta;
"""

ATTEMPT_BUCKETS = """
CREATE FUNCTION dlq_count_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO dlq_failurebucket (starts_at, width, source, consumer, group_id, category, number)
    SELECT date_trunc('minute', added.at), 'raw', g.source, g.consumer, g.id, added.category, count(*)
    FROM added JOIN dlq_failuregroup g ON g.id = added.group_id
    WHERE added.outcome = 'failed'
    GROUP BY 1, 3, 4, 5, 6;
    RETURN NULL;
END $$;

CREATE TRIGGER dlq_attempt_added AFTER INSERT ON dlq_attempt
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION dlq_count_attempts();
"""

# The deltas are emptied every few seconds: without this they would be read with all their ghosts.
STORAGE = """
ALTER TABLE dlq_counterdelta SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
ALTER TABLE dlq_counter SET (autovacuum_vacuum_scale_factor = 0.05, fillfactor = 70);
"""

NO_LETTER_COUNTERS = """
DROP TRIGGER dlq_letter_added ON dlq_deadletter;
DROP TRIGGER dlq_letter_removed ON dlq_deadletter;
DROP TRIGGER dlq_letter_changed ON dlq_deadletter;
DROP FUNCTION dlq_count_added();
DROP FUNCTION dlq_count_removed();
DROP FUNCTION dlq_count_changed();
"""

NO_ATTEMPT_BUCKETS = """
DROP TRIGGER dlq_attempt_added ON dlq_attempt;
DROP FUNCTION dlq_count_attempts();
"""


class Migration(migrations.Migration):
    dependencies = [("dlq", "0001_initial")]

    operations = [
        migrations.RunSQL(LETTER_COUNTERS, NO_LETTER_COUNTERS),
        migrations.RunSQL(COUNTED, "DROP VIEW dlq_counted"),
        migrations.RunSQL(ATTEMPT_BUCKETS, NO_ATTEMPT_BUCKETS),
        migrations.RunSQL(STORAGE, migrations.RunSQL.noop),
    ]
