"""How the database is cleaned up after tests that commit.

Django empties all tables and lets every app say again what belongs in them, which takes longer than most tests. Here
what `migrate` left is kept in a schema of its own, and put back where a test has changed it.
"""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

KEEP = "CREATE TABLE pristine.{table} AS TABLE {table}"
# All tables are locked before anything is removed, so that the last commit of a process that the test has killed is not
# overlooked. The audit trail refuses to be emptied: triggers are off for it.
RESTORE = """
CREATE FUNCTION pristine.restore() RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$
BEGIN
    LOCK TABLE {tables};
    {empty}
    {put_back}
END $$
"""
# To truncate costs as much as to delete some thousand rows; and what is deleted leaves room behind that grows.
EMPTY = """
    IF pg_relation_size('{table}') > 500000 THEN TRUNCATE {table} CASCADE; ELSE DELETE FROM {table}; END IF;
"""
PUT_BACK = """
    IF EXISTS (TABLE {table} EXCEPT TABLE pristine.{table}) OR EXISTS (TABLE pristine.{table} EXCEPT TABLE {table}) THEN
        DELETE FROM {table};
        INSERT INTO {table} TABLE pristine.{table};
    END IF;
"""


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    with django_db_blocker.unblock():
        keep()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: restore())
        # A new session would look up anew what it knows of seventy tables.
        patch.setattr(TransactionTestCase, "_should_reload_connections", lambda _: False)
        yield


def keep() -> None:
    """Remember what is in the tables."""
    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    with connection.cursor() as cursor:
        filled = [table for table in tables if has_rows(cursor, table)]
        cursor.execute("CREATE SCHEMA pristine")
        for table in filled:
            cursor.execute(KEEP.format(table=table))
        empty = "".join(EMPTY.format(table=table) for table in tables if table not in filled)
        put_back = "".join(PUT_BACK.format(table=table) for table in filled)
        cursor.execute(RESTORE.format(tables=", ".join(tables), empty=empty, put_back=put_back))


def has_rows(cursor, table: str) -> bool:
    cursor.execute(f"SELECT EXISTS (SELECT FROM {table})")  # noqa: S608
    return bool(cursor.fetchone()[0])


def restore() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pristine.restore(), pg_advisory_unlock_all()")
