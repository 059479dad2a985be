from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.hashers import ScryptPasswordHasher
from django.contrib.auth.models import User
from django.test import Client
from whitenoise.middleware import WhiteNoiseMiddleware

from breakers import api
from breakers.contact import Contact
from dashboard.access.operations import create_user
from dashboard.actions import ADMIN, OPERATOR, VIEWER
from dashboard.memo import forget_all
from dashboard.redis import get_redis
from tests.emptying import django_db_setup
from tests.wait import PATIENT

__all__ = ["django_db_setup"]


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


@pytest.fixture(autouse=True, scope="session")
def _patient_pages() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dashboard.redis.TIMEOUT_SECONDS", PATIENT)
        yield


@pytest.fixture(autouse=True, scope="session")
def _blocked_is_counted_at_once() -> Iterator[None]:
    """On a busy machine a count takes long, and the next test's would be put off for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dlq.compaction.GRACE_SECONDS", PATIENT)
        yield


@pytest.fixture(autouse=True)
def _patient_breakers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A fresh contact for every test, and no breaker of the test before."""
    contact = Contact(settings.REDIS_URL, budget_seconds=PATIENT)
    monkeypatch.setattr(api, "get_contact", lambda: contact)
    api.get_breaker.cache_clear()
    yield
    api.get_breaker.cache_clear()
    contact.redis.close()


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
