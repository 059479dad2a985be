"""Every index costs each write of its table, so none of ours does what another does already."""

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection

# Indexes without a condition whose columns another index of the same table begins with.
FIND_NEEDLESS = """
WITH whole AS (
    SELECT indexrelid AS id, indrelid AS of, indisunique,
           indkey::text || ' ' AS columns, indclass::text || ' ' AS classes
    FROM pg_index WHERE indpred IS NULL AND indexprs IS NULL AND indrelid = ANY(%s::regclass[])
)
SELECT one.id::regclass::text, other.id::regclass::text FROM whole one JOIN whole other USING (of)
WHERE one.id <> other.id AND NOT one.indisunique
    AND starts_with(other.columns, one.columns) AND starts_with(other.classes, one.classes)
"""

# What Django adds to a text that is unique or has an index by a word at its field; a constraint or an index in `Meta`
# has none. For a primary key there is no other way.
FIND_FOR_LIKE = """
SELECT i.indexrelid::regclass::text FROM pg_index i JOIN pg_opclass o ON o.oid = i.indclass[0]
WHERE o.opcname IN ('text_pattern_ops', 'varchar_pattern_ops') AND i.indrelid = ANY(%s::regclass[])
    AND NOT EXISTS (SELECT FROM pg_index p WHERE p.indrelid = i.indrelid AND p.indisprimary AND p.indkey = i.indkey)
"""


@pytest.fixture
def tables() -> list[str]:
    ours = [apps.get_app_config(label) for label in ("dashboard", *settings.SECTIONS)]
    return [model._meta.db_table for config in ours for model in config.get_models()]


@pytest.mark.django_db
def test_nothing_is_kept_for_a_search_by_like_that_nobody_makes(tables: list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(FIND_FOR_LIKE, [tables])
        assert cursor.fetchall() == []


@pytest.mark.django_db
def test_no_index_of_ours_is_the_beginning_of_another(tables: list[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(FIND_NEEDLESS, [tables])
        assert cursor.fetchall() == []
