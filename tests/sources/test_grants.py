"""The grants that a source says are missing can be run as they are told, whatever things are called."""

import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import pytest

from sources.models import SourceState
from tests.sources.foreign import Foreign

pytestmark = pytest.mark.django_db
ODD = {"table": "Failed.Failed Messages", "status": "user", "open": ["new", "again"]}


@pytest.fixture
def odd(make_foreign: Callable[..., Foreign], settings: Any) -> Iterator[Foreign]:
    """A table with a name of capitals in a schema with another, read by a role with dashes that may do nothing."""
    foreign, role = make_foreign("sql", **ODD), f"on-call-{uuid4().hex}"
    foreign.execute(f'CREATE ROLE "{role}" LOGIN')
    foreign.execute(f'CREATE SCHEMA "Failed"; GRANT USAGE ON SCHEMA "Failed" TO "{role}"')
    foreign.execute('CREATE TABLE "Failed"."Failed Messages" (LIKE failed_messages INCLUDING ALL)')
    foreign.execute('ALTER TABLE "Failed"."Failed Messages" RENAME state TO "user"')
    settings.SOURCES["orders"]["dsn"] = re.sub(r"//[^@]*@", f"//{role}@", foreign.dsn)
    yield foreign
    foreign.execute('DROP SCHEMA "Failed" CASCADE')
    foreign.execute(f'DROP ROLE "{role}"')


def test_they_can_be_run_as_they_are_told(odd: Foreign, sync: Callable[[], SourceState]) -> None:
    def run(sentence: str) -> None:
        odd.execute(sentence[sentence.index("GRANT") :])

    run(sync().error)
    state = sync()
    assert state.error == ""
    run(state.inspection["why_not"]["writes_status"])
    SourceState.objects.update(inspected_at=None)
    assert sync().inspection["why_not"]["writes_status"] == ""
