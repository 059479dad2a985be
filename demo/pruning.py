"""The shop forgets: it keeps a number of things, not of days, so that a fast shop is no larger than a slow one."""

from demo.models import Account, Delivery, Notification, OrderSummary, Verdict
from dlq.models import DeadLetter
from dlq.retention import purge_letters
from projections.pruning import forget_skips, prune_events
from projections.store import get_head, get_tail

KEEP_EVENTS = 20_000
# With so many, since a consumer stands still or an old letter is open, the shop closes until it can forget again.
MOST_EVENTS = 40_000
KEEP_CLOSED = 2_000
# Each row of these came with an event, and goes with it: a rebuild would not have it either.
READ_MODELS = (Account, OrderSummary, Notification, Delivery, Verdict)


def is_full() -> bool:
    return get_head() - get_tail() >= MOST_EVENTS


def prune() -> None:
    """One pass; what is too much for it is left to the next."""
    oldest = DeadLetter.objects.exclude(closed_at=None).order_by("-closed_at")
    for letter in oldest.only("closed_at")[KEEP_CLOSED : KEEP_CLOSED + 1]:
        if letter.closed_at:
            purge_letters(letter.closed_at)
    if prune_events(KEEP_EVENTS):
        forget_skips()
        tail = get_tail()
        for model in READ_MODELS:
            model.objects.filter(position__lte=tail).delete()
