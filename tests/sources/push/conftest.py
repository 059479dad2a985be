import json
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from sources.tokens.operations import create_token

Push = Callable[..., HttpResponse]


@pytest.fixture
def secret(db: None) -> str:
    """The secret of a token for the source orders."""
    return create_token("orders", actor="tests")[1]


@pytest.fixture
def push(secret: str) -> Push:
    """Send something, as JSON unless it is bytes already; the token is a good one unless another is given."""

    def push(body: Any, content_type: str = "application/json", **headers: str) -> HttpResponse:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {secret}"} | headers
        client = Client(enforce_csrf_checks=True, raise_request_exception=False)
        return client.post("/api/v1/failures", data, content_type=content_type, headers=headers)

    return push


@pytest.fixture
def make_failure() -> Callable[..., dict[str, Any]]:
    def make(**fields: Any) -> dict[str, Any]:
        return {
            "consumer": "order-summary",
            "event_id": "e1",
            "failed_at": "2025-11-01T12:00:00.123456Z",
            "error_type": "KeyError",
            "error_message": "currency",
        } | fields

    return make
