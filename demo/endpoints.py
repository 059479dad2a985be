"""Calls to the outside world, as the shop's consumers make them."""

import http.client
import json
from typing import Any

from demo.pricing import get_shop
from demo.sink import HOST
from projections.api import StoredEvent

TIMEOUT_SECONDS = 2.0


class EndpointDown(Exception):
    """The other side is in trouble: trying again may help."""


class EndpointRefused(Exception):
    """The other side understood, and does not want it."""


def post(name: str, path: str, event: StoredEvent) -> Any:
    """Send an event and return the answer; `name` is who is called, for the error."""
    connection = http.client.HTTPConnection(HOST, get_shop().sink_port, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("POST", path, json.dumps(event.data), {"Idempotency-Key": str(event.event_id)})
        response = connection.getresponse()
        answer = json.loads(response.read())
    except (OSError, http.client.HTTPException) as error:
        raise EndpointDown(f"{name} does not answer: {error}") from error
    finally:
        connection.close()
    if response.status >= 500:
        raise EndpointDown(f"{name} answered {response.status}: {answer['error']}")
    if response.status >= 400:
        raise EndpointRefused(f"{name} answered {response.status}: {answer['error']}")
    return answer
