from django.db import migrations

APPEND_ONLY = """
CREATE FUNCTION dashboard_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is append-only: % refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER dashboard_audit_no_change BEFORE UPDATE OR DELETE ON dashboard_auditentry
    FOR EACH ROW EXECUTE FUNCTION dashboard_audit_is_append_only();
CREATE TRIGGER dashboard_audit_no_truncate BEFORE TRUNCATE ON dashboard_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION dashboard_audit_is_append_only();
"""

MUTABLE = """
DROP TRIGGER dashboard_audit_no_change ON dashboard_auditentry;
DROP TRIGGER dashboard_audit_no_truncate ON dashboard_auditentry;
DROP FUNCTION dashboard_audit_is_append_only();
"""


class Migration(migrations.Migration):
    dependencies = [("dashboard", "0001_initial")]

    operations = [migrations.RunSQL(APPEND_ONLY, MUTABLE)]
