"""A target that hands events to somebody else's Celery, as a task by name.

What becomes of them is known only if there is a result backend that we may read, or if the task calls us back.
"""

import json
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from uuid import UUID

from celery import Celery
from celery.states import FAILURE, REVOKED, SUCCESS
from django.utils.crypto import salted_hmac
from kombu.exceptions import OperationalError

from dlq.targets.base import Answer, Delivery, Health, Refusal, TargetError
from dlq.targets.callbacks import make_token, make_url

# The broker is asked before the button is shown, and somebody waits for the page.
HEALTH_SECONDS = 1
# Results come one by one, and whoever asks holds a lease meanwhile.
ASK_SECONDS = 5.0
# A broker that is not there is not there: the run tries again, and says so.
NO_RETRIES = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


@dataclass(frozen=True)
class CeleryTarget:
    """The task gets the event as its only argument; the same try twice has the same task id."""

    name: str
    broker_url: str = field(repr=False)
    task: str
    queue: str = "celery"
    # Where its workers leave their results; empty: we may not read them.
    result_backend: str = field(default="", repr=False)
    # The console as the task reaches it, such as https://redrive.internal; empty: it does not call back.
    callback_url: str = ""
    confirm_seconds: float = 900.0
    timeout_seconds: float = 5.0
    dedup_seconds: int = 300
    kind: str = "celery"

    @property
    def confirmed_within(self) -> float | None:
        return self.confirm_seconds if self.result_backend or self.callback_url else None

    def deliver(self, delivery: Delivery) -> Answer:
        try:
            payload = json.loads(delivery.body)
        except (ValueError, RecursionError):
            raise TargetError(
                "The event is not JSON, or nested too deeply, and tasks take nothing else.", permanent=True
            ) from None
        delivery.check_time()
        try:
            get_app(self.broker_url, self.result_backend).send_task(
                self.task,
                (payload,),
                queue=self.queue,
                task_id=make_task_id(delivery.item_id),
                headers=self._headers(delivery),
                retry=False,
                ignore_result=not self.result_backend,
            )
        except (OperationalError, OSError) as error:
            raise TargetError(
                f"The broker of {self.name} did not take it: {error}", permanent=False
            ) from error
        return Answer.SENT

    def _headers(self, delivery: Delivery) -> dict[str, str]:
        headers = {
            "redrive_event_id": delivery.event_id,
            "redrive_consumer": delivery.consumer,
            "redrive_idempotency_key": delivery.idempotency_key,
        }
        if self.callback_url:
            headers["redrive_callback_url"] = make_url(self.callback_url, delivery.item_id)
            headers["redrive_callback_token"] = make_token(delivery.item_id)
        return headers

    def ask(self, item_ids: Sequence[int]) -> dict[int, Answer | Refusal]:
        """As the result backend has it; without one, nothing: then the task calls back.

        A slow backend is asked about some of them, chosen by lot, so that the next looks come to the others.
        """
        if not self.result_backend:
            return {}
        backend = get_app(self.broker_url, self.result_backend).backend
        said: dict[int, Answer | Refusal] = {}
        until = time.monotonic() + ASK_SECONDS
        for item_id in random.sample(item_ids, len(item_ids)):
            if answer := read_result(backend.get_task_meta(make_task_id(item_id))):
                said[item_id] = answer
            if time.monotonic() >= until:
                break
        return said

    def get_health(self) -> Health:
        goes = f"Goes to {self.name} as the task {self.task}."
        try:
            app = get_app(self.broker_url, self.result_backend)
            with app.connection_for_write() as connection:
                connection.ensure_connection(
                    max_retries=1, timeout=HEALTH_SECONDS, reraise_as_library_errors=True
                )
        except (OperationalError, OSError) as error:
            return Health(False, f"{goes} Its broker does not answer: {error}")
        if self.confirmed_within is None:
            return Health(
                True,
                f"{goes} It does not say what becomes of it: the letters stay open as sent, and only the first of a "
                "sequence is sent.",
            )
        how = "its results are read" if self.result_backend else "it calls back"
        return Health(
            True,
            f"{goes} What becomes of it is known when {how}; what nobody has confirmed after "
            f"{self.confirm_seconds:g} s stays open.",
        )


def make_task_id(item_id: int) -> str:
    """Known to us alone beforehand, and another for each console that shares a broker."""
    return str(UUID(salted_hmac("dlq.task", str(item_id), algorithm="sha256").hexdigest()[:32]))


def read_result(meta: dict[str, Any]) -> Answer | Refusal | None:
    """None: it has not come to its end."""
    if meta["status"] == SUCCESS:
        return Answer.DONE
    if meta["status"] not in (FAILURE, REVOKED):
        return None
    error = meta.get("result")
    name = type(error).__name__ if isinstance(error, BaseException) else meta["status"].capitalize()
    return Refusal(name, str(error or "The task was revoked."), str(meta.get("traceback") or ""))


@lru_cache(maxsize=20)
def get_app(broker_url: str, result_backend: str) -> Celery:
    app = Celery("redrive-target", broker=broker_url, backend=result_backend or None, set_as_current=False)
    app.conf.update(
        broker_transport_options={"socket_timeout": 3, "socket_connect_timeout": 3, **NO_RETRIES},
        redis_socket_timeout=3,
        redis_socket_connect_timeout=3,
        # One look must be over soon; the next comes anyway.
        result_backend_transport_options={"retry_policy": {"max_retries": 0}},
        accept_content=["json"],
        result_accept_content=["json"],
    )
    return app
