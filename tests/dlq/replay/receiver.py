"""Somebody else's Celery: its task does as each event's payload says, and calls back where it was told to.

python -m celery -A tests.dlq.replay.receiver worker -Q theirs
"""

import json
import os
import urllib.request
from typing import Any

from celery import Celery

app = Celery("theirs", broker=os.environ["THEIR_BROKER"], backend=os.environ.get("THEIR_BACKEND"))


class OrderRefused(Exception):
    pass


@app.task(name="shop.handle", bind=True)
def handle(self: Any, event: dict[str, Any]) -> str:
    headers = self.request.headers or {}
    if event.get("how") == "refuse":
        call_back(
            headers, {"outcome": "failed", "error_type": "OrderRefused", "error_message": "no such order"}
        )
        raise OrderRefused("no such order")
    call_back(headers, {"outcome": "succeeded"})
    return "done"


def call_back(headers: dict[str, str], said: dict[str, str]) -> None:
    if "redrive_callback_url" not in headers:
        return
    request = urllib.request.Request(  # noqa: S310
        headers["redrive_callback_url"],
        json.dumps(said).encode(),
        {"Authorization": f"Bearer {headers['redrive_callback_token']}", "Content-Type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=10).close()  # noqa: S310
