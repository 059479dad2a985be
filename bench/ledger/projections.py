"""The same read model three times: by one process, by two, and by two with a batch handler."""

from django.db import connection

from projections.api import Projector, StoredEvent, handles, handles_batch, presets, register

TABLE = """
CREATE TABLE bench_ledger (
    consumer text, account text, amount bigint, version bigint, applied int, out_of_order int,
    PRIMARY KEY (consumer, account))
"""
# One upsert an event; it notes what comes out of order or twice.
ADD = """
INSERT INTO bench_ledger AS kept VALUES (%s, %s, %s, %s, 1, (%s <> 1)::int)
ON CONFLICT (consumer, account) DO UPDATE SET
    amount = kept.amount + excluded.amount, version = excluded.version, applied = kept.applied + 1,
    out_of_order = kept.out_of_order + (excluded.version <> kept.version + 1)::int
"""
ADD_MANY = """
INSERT INTO bench_ledger AS kept
SELECT %s, * FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::int[], %s::int[])
ON CONFLICT (consumer, account) DO UPDATE SET
    amount = kept.amount + excluded.amount, version = excluded.version, applied = kept.applied + excluded.applied,
    out_of_order = kept.out_of_order + excluded.out_of_order
        + (excluded.version - excluded.applied <> kept.version)::int
"""


def add(consumer: str, event: StoredEvent) -> None:
    with connection.cursor() as cursor:
        cursor.execute(ADD, [consumer, event.stream, event.data["amount"], event.version, event.version])


class Ledger(Projector):
    policy = presets.NO_RETRY
    parallel_by_sequence = True
    is_pipelined = True

    @handles("Paid")
    def add(self, event: StoredEvent) -> None:
        add(self.name, event)


@register
class LedgerOne(Ledger):
    name = "ledger-1"


@register
class LedgerTwo(Ledger):
    name = "ledger-2"


@register
class LedgerBatch(Projector):
    name = "ledger-batch"
    policy = presets.NO_RETRY
    parallel_by_sequence = True

    @handles_batch("Paid")
    def add_all(self, events: list[StoredEvent]) -> None:
        folded: dict[str, list[int]] = {}
        for event in events:
            row = folded.setdefault(event.stream, [0, event.version - 1, 0, 0])
            row[3] += event.version != row[1] + 1
            row[0] += event.data["amount"]
            row[1] = event.version
            row[2] += 1
        columns = [[row[n] for row in folded.values()] for n in range(4)]
        with connection.cursor() as cursor:
            cursor.execute(ADD_MANY, [self.name, list(folded), *columns])
