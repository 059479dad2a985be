import json
from pathlib import Path

import pytest
from django.test import Client

from sources.push.formats import escrow
from sources.push.formats.native import FIELDS
from sources.push.schema import ESCROW_FIELDS, SCHEMA

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.django_db
def test_the_schema_is_served_and_is_the_one_in_the_docs(viewer: Client) -> None:
    assert viewer.get("/api/v1/failures/schema").json() == SCHEMA
    assert json.loads((DOCS / "push.schema.json").read_text()) == SCHEMA


def test_the_docs_name_every_field() -> None:
    text = (DOCS / "push.md").read_text()
    assert [name for name in FIELDS if f"`{name}`" not in text] == []


def test_the_schema_names_every_field_that_is_read() -> None:
    assert {escrow.to_snake(name) for name in ESCROW_FIELDS} == escrow.READ
    assert SCHEMA["$defs"]["failure"]["properties"].keys() == FIELDS.keys()
