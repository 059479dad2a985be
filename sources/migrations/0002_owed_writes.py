"""What is changed here and not there is noted in the transaction that changes it, whoever does it."""

from django.db import migrations

# A letter that is closed here and has an open row there, or the other way round. The sync, which follows the source,
# changes the row first, so that it owes nothing.
NOTE_OWED = """
CREATE FUNCTION sources_note_owed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO sources_owedwrite (source, letter_id)
    SELECT r.source, r.letter_id
    FROM added
    JOIN sources_sourcestate s ON s.name = added.source AND s.takes_writes
    JOIN sources_foreignrow r ON r.letter_id = added.id
    WHERE r.is_open <> (added.status IN ('failed', 'parked'));
    RETURN NULL;
END $$;

CREATE TRIGGER sources_letter_changed AFTER UPDATE ON dlq_deadletter
    REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION sources_note_owed();
"""

FORGET_ROWS = """
CREATE FUNCTION sources_forget_rows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sources_foreignrow r USING removed WHERE r.letter_id = removed.id;
    RETURN NULL;
END $$;

CREATE TRIGGER sources_letter_removed AFTER DELETE ON dlq_deadletter
    REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION sources_forget_rows();
"""


class Migration(migrations.Migration):
    replaces = [("sources", "0003_owed_writes")]  # as a console of an earlier checkout knows it
    dependencies = [("sources", "0001_initial"), ("dlq", "0001_initial")]

    operations = [
        migrations.RunSQL(
            NOTE_OWED,
            "DROP TRIGGER sources_letter_changed ON dlq_deadletter; DROP FUNCTION sources_note_owed()",
        ),
        migrations.RunSQL(
            FORGET_ROWS,
            "DROP TRIGGER sources_letter_removed ON dlq_deadletter; DROP FUNCTION sources_forget_rows()",
        ),
    ]
