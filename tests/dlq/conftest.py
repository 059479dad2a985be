from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from dashboard.actions import ADMIN
from dlq.api import Failure, record_failures
from dlq.filters import LetterFilter
from dlq.models import DeadLetter
from dlq.operations import Done, handle_letters
from dlq.selection import Selection
from dlq.verbs import VERBS

T = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def someone(make_user: Callable[..., User]) -> User:
    """Somebody who may do and see everything."""
    return make_user("someone", role=ADMIN)


@pytest.fixture
def make_letters() -> Callable[..., list[DeadLetter]]:
    """Make so many letters of one consumer, in one group."""

    def make(number: int = 3, **fields: Any) -> list[DeadLetter]:
        given = {"consumer": "billing", "error_type": "ValueError", "error_message": "bad total"} | fields
        failures = [
            Failure(**{"event_id": f"e{n}", "failed_at": T + timedelta(seconds=n)} | given)
            for n in range(number)
        ]
        ids = record_failures(failures)
        return list(DeadLetter.objects.filter(pk__in=ids).order_by("pk"))

    return make


@pytest.fixture
def open_filter(someone: User) -> LetterFilter:
    form = LetterFilter({}, user=someone)
    assert form.is_valid()
    return form


@pytest.fixture
def do(someone: User) -> Callable[..., Done]:
    """Do a verb as somebody who may."""

    def do(verb: str, selection: Selection, confirmed: int, reason: str = "tests", **options: Any) -> Done:
        options = {"actor": someone, "request_key": uuid4()} | options
        return handle_letters(VERBS[verb], selection, confirmed=confirmed, reason=reason, **options)

    return do
