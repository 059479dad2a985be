"""The retry schedules of well-known systems, to the millisecond; docs/projections.md has them as a table."""

from projections.decisions import DeadLetter, Fatal, Retry
from projections.policies import PolicyTable

LETTER = DeadLetter()

# Stop at the first failure, so that nobody can overlook it.
FATAL = PolicyTable("fatal", default=Fatal())

# Straight to the dead letters.
NO_RETRY = PolicyTable("no-retry", default=LETTER)

# At once, after 1 s, after 2 s; gives up after 3 retries, about 3 seconds in all.
HYBRID = PolicyTable("hybrid", default=Retry((0.0, 1.0, 2.0), then=LETTER))


def eventcore(
    retries: int,
    *,
    base_seconds: float,
    multiplier: float = 2.0,
    jitter: float = 0.0,
    timeout_seconds: float | None = None,
) -> PolicyTable:
    """Base × multiplier with a time limit for each try; used up, it stops rather than loop for ever."""
    retry = Retry.exponential(retries, base_seconds=base_seconds, multiplier=multiplier, jitter=jitter)
    return PolicyTable("eventcore", default=retry, timeout_seconds=timeout_seconds)


def transient_only(name: str, retry: Retry) -> PolicyTable:
    """What may pass is retried; permanent failures and poison get no retry and become letters at once."""
    return PolicyTable(name, default=LETTER, by_category={"transient": retry, "dependency": retry})


def _escrow(operation: str, retries: int, base_seconds: float, cap_seconds: float) -> PolicyTable:
    retry = Retry.exponential(retries, base_seconds=base_seconds, cap_seconds=cap_seconds, then=LETTER)
    return transient_only(f"escrow {operation}", retry)


# min(100 ms × 2ⁿ, 30 s), and the limits for each kind of operation.
ESCROW_KAFKA_CONSUMER = _escrow("kafka consumer", 5, 0.1, 30.0)
ESCROW_STRIPE = _escrow("stripe", 3, 0.2, 2.0)
ESCROW_CUSTODIAN = _escrow("custodian", 3, 0.2, 2.0)
ESCROW_DATABASE = _escrow("database", 3, 0.05, 0.5)
ESCROW_WEBHOOK = _escrow("webhook", 5, 0.1, 30.0)
ESCROW = ESCROW_KAFKA_CONSUMER

# eventsource-py's document draws 3 tries with waits of 1 and 2 s, and writes 4 tries with 2, 4 and 8 s.
EVENTSOURCE_DIAGRAM = PolicyTable("eventsource, its diagram", default=Retry((1.0, 2.0), then=LETTER))
EVENTSOURCE_TEXT = PolicyTable(
    "eventsource, its text", default=Retry.exponential(3, base_seconds=2.0, then=LETTER)
)

# 100 ms × 2 ± 25 %, at most 16 s, 5 retries: under 4 seconds in all.
QUEUE_KEEPER = transient_only(
    "queue-keeper",
    Retry.exponential(5, base_seconds=0.1, cap_seconds=16.0, jitter=0.25, then=LETTER),
)


def filtered(retry: Retry, *errors: type[BaseException]) -> PolicyTable:
    """Retry these exceptions and no others; the rest become letters at once."""
    return PolicyTable("filtered", default=LETTER, by_error=dict.fromkeys(errors, retry))
