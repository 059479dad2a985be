"""The breakers page with 10,000 breakers, 200 of them open: its data against SCAN + MGET, the page against a small one.

SCAN + MGET is how open breakers are found without an index: look for the state key of each of them, read those, and
read the counters of the ones to show. It gets a database of its own with the keys that 10,000 breakers of pybreaker
have, so that it does not stumble over ours. Our data part answers the same question: which are open, and how are the
fifty that the page shows; what the page adds from Postgres is given as `page_data`.

The small page and the large one are measured in turns, so that a busy machine slows both alike: each has a schema of
Postgres and a database of Redis for itself.
"""

import statistics
import time
from collections.abc import Iterator
from itertools import islice

import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.test import Client

from bench.report import Bar, median_seconds, report
from breakers import live, scripts, tasks
from breakers.models import Breaker, Reading, Transition, Trip
from breakers.policy import Policy
from breakers.queries import get_board
from dashboard.paging import PAGE_SIZE
from dashboard.redis import get_redis

SMALL, LARGE = 100, 10_000
OPEN_EVERY = 50
BATCH = 1000
ROUNDS = 40
# Numbers of Redis's databases.
THEIR_DATABASE = 3


def main() -> None:
    client = Client()
    client.force_login(User.objects.create_user("bench"))
    small, large = World("small", 1, SMALL), World("large", 2, LARGE)
    small_page, large_page = time_in_turns(client, small, large)
    theirs = redis.Redis.from_url(settings.REDIS_URL, db=THEIR_DATABASE, decode_responses=True)
    make_theirs(theirs)
    figures = {
        "scan": median_seconds(lambda: read_by_scan(theirs)),
        "ours": median_seconds(read_ours),
        "page_data": median_seconds(read_page_data),
        "page_with_100": small_page,
        "page_with_10000": large_page,
    }
    bars = {
        "vs_scan": Bar(figures["scan"] / figures["ours"], least=30),
        "vs_small": Bar(large_page / small_page, most=1.5),
    }
    report("breakers-page", bars, milliseconds={name: round(one * 1000, 2) for name, one in figures.items()})


class World:
    """So many breakers, and nothing else to see; `enter` it before anything is asked."""

    def __init__(self, schema: str, database: int, count: int) -> None:
        self.schema = schema
        self.redis_url = f"{settings.REDIS_URL.partition('?')[0]}?db={database}"
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE SCHEMA {schema}")
            for model in (Breaker, Transition, Trip, Reading):
                table = model._meta.db_table
                cursor.execute(f"CREATE TABLE {schema}.{table} (LIKE public.{table} INCLUDING ALL)")
        self.enter()
        make_ours(count)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")

    def enter(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f"SET search_path TO {self.schema}, public")
        get_redis().close()
        settings.REDIS_URL = self.redis_url
        get_redis.cache_clear()
        get_redis().ping()


def time_in_turns(client: Client, *worlds: World) -> list[float]:
    """The median time of a page in each world, the last of which is the one that stays entered."""
    rounds: list[list[float]] = [[] for _ in worlds]
    for _ in range(ROUNDS):
        for world, times in zip(worlds, rounds, strict=True):
            world.enter()
            began = time.perf_counter()
            response = client.get("/breakers/")
            times.append(time.perf_counter() - began)
            assert b"not closed" in response.content
    return [statistics.median(times) for times in rounds]


def make_ours(count: int) -> None:
    """Breakers as processes announce them, opened as failures open them, and copied to Postgres as beat does."""
    policy = Policy(failure_threshold=1, open_seconds=3600)
    execute = get_redis().execute_command
    for number in range(count):
        name = f"api-{number}"
        scripts.announce(execute, name, None, policy.as_json, f"target {number}")
        if number % OPEN_EVERY == 0:
            scripts.fail(execute, name, None, 0, 0, 1, 0, 3_600_000, "ConnectionError: refused")
    tasks.tend()


def make_theirs(client: redis.Redis) -> None:
    for number in range(LARGE):
        name, is_open = f"api-{number}:pybreaker", number % OPEN_EVERY == 0
        values = {"state": "open" if is_open else "closed", "fail_counter": "0", "success_counter": "0"}
        if is_open:
            values["opened_at"] = "1700000000"
        client.mset({f"{name}:{part}": value for part, value in values.items()})


def read_ours() -> None:
    found, open_count, _ = live.list_open(PAGE_SIZE)
    assert open_count == LARGE // OPEN_EVERY
    assert len(live.read([name for name, _ in found])) == PAGE_SIZE


def read_page_data() -> None:
    board = get_board(QueryDict(), search="", state="", first_open=0)
    assert (board.open_ones.count, board.open_ones.total_count) == (LARGE // OPEN_EVERY, LARGE)


def read_by_scan(client: redis.Redis) -> None:
    found = []
    for keys in batches(client.scan_iter(match="*:pybreaker:state", count=BATCH)):
        found += [key for key, state in zip(keys, client.mget(keys), strict=True) if state == "open"]
    assert len(found) == LARGE // OPEN_EVERY
    shown = [key.removesuffix("state") for key in found[:PAGE_SIZE]]
    client.mget([f"{name}{part}" for name in shown for part in ("fail_counter", "opened_at")])


def batches(keys: Iterator[str]) -> Iterator[list[str]]:
    while batch := list(islice(keys, BATCH)):
        yield batch
