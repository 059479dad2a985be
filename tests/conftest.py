from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.hashers import ScryptPasswordHasher
from django.contrib.auth.models import User
from django.db.backends.postgresql.operations import DatabaseOperations
from django.test import Client
from whitenoise.middleware import WhiteNoiseMiddleware

from dashboard.access.operations import create_user
from dashboard.actions import ADMIN, OPERATOR, VIEWER
from dashboard.memo import forget_all
from dashboard.redis import get_redis

# Of some seventy tables a test fills a few, and to truncate all takes ten times as long. They are locked before
# somebody looks, so that the last commit of a process that the test has killed is not overlooked. The audit trail
# refuses to be emptied: triggers are off for it.
EMPTY_TABLES = """
SET LOCAL session_replication_role = replica;
LOCK TABLE {tables};
DO $$ DECLARE filled text; BEGIN
    SELECT string_agg(name, ', ') INTO filled FROM ({found}) AS found;
    IF filled IS NOT NULL THEN EXECUTE 'TRUNCATE ' || filled || ' CASCADE'; END IF;
END $$
"""


@pytest.fixture(autouse=True, scope="session")
def _empty_filled_tables() -> Iterator[None]:
    """How the database is cleaned up after tests that commit."""

    def sql_flush(self: DatabaseOperations, style: object, tables: list[str], **_: object) -> list[str]:
        found = " UNION ALL ".join(
            f"SELECT '{table}' AS name WHERE EXISTS (SELECT FROM {table})"  # noqa: S608
            for table in tables
        )
        return [EMPTY_TABLES.format(tables=", ".join(tables), found=found)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "sql_flush", sql_flush)
        yield


@pytest.fixture(autouse=True, scope="session")
def _static_files_found_once() -> Iterator[None]:
    """Every test's client makes its middleware anew, and the static files, which do not change, would be read again."""
    files: dict[str, Any] = {}
    find = WhiteNoiseMiddleware.add_files_from_finders

    def find_once(self: WhiteNoiseMiddleware) -> None:
        if not files:
            find(self)
            files.update(self.files)
        self.files.update(files)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", find_once)
        yield


@pytest.fixture(autouse=True, scope="session")
def _quick_passwords() -> Iterator[None]:
    """A password is hashed as ever, with a fraction of the work: tests of signing in do it some hundred times."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ScryptPasswordHasher, "work_factor", 2**4)
        yield


@pytest.fixture(autouse=True)
def _nothing_remembered() -> None:
    get_redis().flushdb()
    forget_all()


@pytest.fixture
def make_user(db: None) -> Callable[..., User]:
    def make(username: str = "", role: str = VIEWER, password: str | None = None) -> User:
        return create_user(username or f"some-{role}", role=role, password=password, actor="tests")

    return make


@pytest.fixture
def sign_in(make_user: Callable[..., User]) -> Callable[[str], Client]:
    """A client signed in as a new user of the role."""

    def sign_in(role: str) -> Client:
        client = Client()
        client.force_login(make_user(role=role))
        return client

    return sign_in


@pytest.fixture
def viewer(sign_in: Callable[[str], Client]) -> Client:
    return sign_in(VIEWER)


@pytest.fixture
def operator(sign_in: Callable[[str], Client]) -> Client:
    return sign_in(OPERATOR)


@pytest.fixture
def admin(sign_in: Callable[[str], Client]) -> Client:
    return sign_in(ADMIN)


@pytest.fixture
def patient_lanes(settings: Any) -> None:
    """Where a lane is worked in this process nobody takes it over, and its target may take as long as it likes."""
    settings.RUN_LEASE_SECONDS = 60
