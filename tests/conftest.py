from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.backends.postgresql.operations import DatabaseOperations
from django.test import Client

from dashboard.access.operations import create_user
from dashboard.actions import ADMIN, OPERATOR, VIEWER
from dashboard.memo import forget_all
from dashboard.redis import get_redis


@pytest.fixture(autouse=True, scope="session")
def _flush_past_the_audit_triggers() -> Iterator[None]:
    """Tests that commit are cleaned up with TRUNCATE, which the audit trail refuses: triggers are off for it."""
    flush = DatabaseOperations.execute_sql_flush

    def execute_sql_flush(self: DatabaseOperations, sql_list: Any) -> None:
        flush(self, ["SET LOCAL session_replication_role = replica;", *sql_list])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseOperations, "execute_sql_flush", execute_sql_flush)
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
