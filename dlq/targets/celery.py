"""A target that hands events to somebody else's Celery, as a task by name; nobody says what becomes of them."""

import json
from dataclasses import dataclass
from functools import lru_cache
from uuid import NAMESPACE_URL, uuid5

from celery import Celery
from kombu.exceptions import OperationalError

from dlq.targets.base import Answer, Delivery, Health, TargetError


@dataclass(frozen=True)
class CeleryTarget:
    """The task gets the event as its only argument; the same try twice has the same task id."""

    name: str
    broker_url: str
    task: str
    queue: str = "celery"
    timeout_seconds: float = 5.0
    dedup_seconds: int = 300
    kind: str = "celery"

    def deliver(self, delivery: Delivery) -> Answer:
        try:
            payload = json.loads(delivery.body)
        except ValueError:
            raise TargetError("The event is not JSON, and tasks take nothing else.", permanent=True) from None
        try:
            get_app(self.broker_url).send_task(
                self.task,
                (payload,),
                queue=self.queue,
                task_id=str(uuid5(NAMESPACE_URL, delivery.idempotency_key)),
                headers={"redrive_event_id": delivery.event_id, "redrive_consumer": delivery.consumer},
                retry=False,
                ignore_result=True,
            )
        except (OperationalError, OSError) as error:
            raise TargetError(
                f"The broker of {self.name} did not take it: {error}", permanent=False
            ) from error
        return Answer.SENT

    def get_health(self) -> Health:
        return Health(
            True,
            f"Goes to {self.name} as the task {self.task}. It does not say what becomes of it: "
            "the letters stay open as sent, and only the first of a sequence is sent.",
        )


@lru_cache(maxsize=20)
def get_app(broker_url: str) -> Celery:
    options = {"socket_timeout": 3, "socket_connect_timeout": 3}
    return Celery("redrive-target", broker=broker_url, broker_transport_options=options, set_as_current=False)
