"""Replay as it is written without a console: a task for each letter."""

from celery import shared_task
from django.db import transaction
from django.utils import timezone

from bench.ledger.projections import add
from dlq.models import DeadLetter
from projections.api import find_event


@shared_task
def replay_one(letter_id: int) -> None:
    with transaction.atomic():
        letter = DeadLetter.objects.select_for_update().get(pk=letter_id)
        event = find_event(letter.position or 0)
        if event and letter.closed_at is None:
            add(letter.consumer, event)
            letter.status, letter.closed_at, letter.replays = "resolved", timezone.now(), letter.replays + 1
            letter.save(update_fields=["status", "closed_at", "replays"])
