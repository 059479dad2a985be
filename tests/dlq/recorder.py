"""A process that records the same failures as its siblings, in an order and in batches of its own.

python -m tests.dlq.recorder SEED
"""

import random
import sys
from datetime import UTC, datetime, timedelta

LETTERS = 60
FAILURES = 400
T = datetime(2026, 11, 1, tzinfo=UTC)


def make_failures() -> list[dict[str, object]]:
    """The same in every process: letters that fail several times, in several ways."""
    chance = random.Random(1)
    return [
        {
            "consumer": f"consumer-{chance.randrange(3)}",
            "event_id": f"event-{chance.randrange(LETTERS)}",
            "error_type": chance.choice(["ValueError", "TimeoutError", "MemoryError"]),
            "error_message": f"order {n} in {chance.choice(['north', 'south'])}",
            "failed_at": T + timedelta(seconds=n),
        }
        for n in range(FAILURES)
    ]


def main(seed: int) -> None:
    from dlq.api import Failure, record_failures

    chance = random.Random(seed)
    failures = [Failure(**fields) for fields in make_failures()]  # type: ignore[arg-type]
    for _ in range(3):
        chance.shuffle(failures)
        rest = failures[:]
        while rest:
            size = chance.randrange(1, 60)
            batch, rest = rest[:size], rest[size:]
            record_failures(batch)


if __name__ == "__main__":
    import django

    django.setup()
    main(int(sys.argv[1]))
