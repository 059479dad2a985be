"""Rebuilding a read model, per event and in batches, against eventsource-py and against reading the events alone."""

import argparse
import subprocess
import time
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

from django.db import connection

from bench import peer
from bench.report import Bar, report
from dashboard.models import Run
from dashboard.runs import lanes
from dashboard.runs.kinds import get_kind
from projections.api import Projector, StoredEvent, handles, handles_batch, register
from projections.declared import sync_declared
from projections.models import Projection
from projections.operations import start_rebuild
from projections.rebuild import BATCH_SIZE
from projections.store import read

STREAMS = 10_000
# The peer handles a few hundred a second; its pace does not depend on how many follow.
PEER_EVENTS = 3000
TABLE = "CREATE TABLE bench_balance (account text PRIMARY KEY, amount bigint, version bigint)"
FILL = """
INSERT INTO projections_event (position, event_id, stream, version, type, type_no, data, metadata, recorded_at)
SELECT n, gen_random_uuid(), 'account-' || n %% %(streams)s, (n - 1) / %(streams)s + 1, 'Paid', n,
       jsonb_build_object('amount', n %% 100, 'currency', 'EUR', 'reference', 'ref-' || n), '{}', now()
FROM generate_series(1, %(events)s) AS n;
INSERT INTO projections_eventtype VALUES ('Paid', %(events)s);
INSERT INTO projections_head VALUES (1, %(events)s, now());
VACUUM ANALYZE projections_event
"""
UPSERT = """
INSERT INTO bench_balance AS kept (account, amount, version)
SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bigint[])
ON CONFLICT (account) DO UPDATE SET amount = kept.amount + excluded.amount, version = excluded.version
"""
UPSERT_ONE = """
INSERT INTO bench_balance AS kept (account, amount, version) VALUES (%s, %s, %s)
ON CONFLICT (account) DO UPDATE SET amount = kept.amount + excluded.amount, version = excluded.version
"""


class Balances(Projector):
    def truncate(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE bench_balance")


@register
class OneByOne(Balances):
    name = "one-by-one"
    is_pipelined = True

    @handles("Paid")
    def change(self, event: StoredEvent) -> None:
        with connection.cursor() as cursor:
            cursor.execute(UPSERT_ONE, [event.stream, event.data["amount"], event.version])


@register
class InBatches(Balances):
    name = "in-batches"

    @handles_batch("Paid")
    def change(self, events: list[StoredEvent]) -> None:
        amounts: dict[str, int] = {}
        versions: dict[str, int] = {}
        for event in events:
            amounts[event.stream] = amounts.get(event.stream, 0) + event.data["amount"]
            versions[event.stream] = event.version
        with connection.cursor() as cursor:
            cursor.execute(UPSERT, [list(amounts), list(amounts.values()), list(versions.values())])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=200_000)
    events = parser.parse_args().events
    with connection.cursor() as cursor:
        cursor.execute(TABLE)
        for statement in FILL.split(";"):
            cursor.execute(statement, {"streams": STREAMS, "events": events})
    sync_declared()
    theirs = run_peer()
    one_by_one, sums = rebuild("one-by-one", events)
    in_batches, same_sums = rebuild("in-batches", events)
    assert sums == same_sums
    reading = read_only(events)
    report(
        "rebuild",
        {
            "vs_eventsource_per_event": Bar(one_by_one / theirs, least=15),
            "vs_eventsource_batch": Bar(in_batches / theirs, least=50),
            "share_of_read_limit": Bar(in_batches / reading, least=0.25),
        },
        events_per_second={
            "eventsource-py": round(theirs),
            "per_event": round(one_by_one),
            "batch": round(in_batches),
            "read_and_decode": round(reading),
        },
        events=events,
    )


def rebuild(name: str, events: int) -> tuple[float, str]:
    """A rebuild as a worker does it, lane and all; events a second, and a checksum of the read model."""
    row = Projection.objects.get(name=name)
    run = start_rebuild(row, actor="bench", reason="", request_key=uuid4())
    kind, hold = get_kind("rebuild"), lanes.claim(run.pk, 0, 0, holder="bench")
    assert hold is not None
    began = time.perf_counter()
    while not kind.work(hold).is_done:
        pass
    seconds = time.perf_counter() - began
    Run.objects.filter(pk=run.pk).update(state=Run.State.FINISHED)
    with connection.cursor() as cursor:
        cursor.execute("SELECT md5(string_agg(b::text, ',' ORDER BY account)) FROM bench_balance b")
        return events / seconds, cursor.fetchone()[0]


def read_only(events: int) -> float:
    """What nobody can be faster than: the same reads, decoded, and nothing done."""
    began, position = time.perf_counter(), 0
    while batch := read(after=position, types=["Paid"], limit=BATCH_SIZE):
        position = batch[-1].position
    return events / (time.perf_counter() - began)


def run_peer() -> float:
    """eventsource-py's events a second, in its own environment."""
    python = peer.get_python(peer.EVENTSOURCE)
    database = connection.settings_dict
    host = quote(database["HOST"], safe="")
    url = f"postgresql+asyncpg://{database['USER']}@/{database['NAME']}?host={host}"
    script = Path(__file__).parent / "peers" / "eventsource_projection.py"
    done = subprocess.run(
        [str(python), str(script), url, str(PEER_EVENTS), str(STREAMS)],
        check=True,
        capture_output=True,
        text=True,
    )
    return float(done.stdout)
