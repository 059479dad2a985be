"""The breakers page with 10,000 breakers, 200 of them open: its data against SCAN + MGET, the page against a small one.

SCAN + MGET is how open breakers are found without an index: look for the state key of each of them, read those, and
read the counters of the ones to show. It gets a database of its own with the keys that 10,000 breakers of pybreaker
have, so that it does not stumble over ours. Our data part answers the same question: which are open, and how are the
fifty that the page shows; what the page adds from Postgres is given as `page_data`.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client

from bench.report import Bar, median_seconds, report
from breakers import live, scripts, tasks
from breakers.models import Breaker, Reading
from breakers.policy import Policy
from breakers.queries import get_board
from dashboard.paging import PAGE_SIZE
from dashboard.redis import get_redis

SMALL, LARGE = 100, 10_000
OPEN_EVERY = 50
BATCH = 1000
OTHER_DATABASE = 1


def main() -> None:
    client = Client()
    client.force_login(User.objects.create_user("bench"))
    theirs = redis.Redis.from_url(settings.REDIS_URL, db=OTHER_DATABASE, decode_responses=True)
    make_theirs(theirs)
    make_ours(range(SMALL))
    small_before = median_seconds(lambda: show(client))
    make_ours(range(SMALL, LARGE))
    figures = {
        "scan": median_seconds(lambda: read_by_scan(theirs)),
        "ours": median_seconds(read_ours),
        "page_data": median_seconds(read_page_data),
        "page_with_10000": median_seconds(lambda: show(client)),
    }
    # Before and after, so that a machine that got busier in between does not decide.
    forget_ours()
    make_ours(range(SMALL))
    figures["page_with_100"] = (small_before + median_seconds(lambda: show(client))) / 2
    bars = {
        "vs_scan": Bar(figures["scan"] / figures["ours"], least=30),
        "vs_small": Bar(figures["page_with_10000"] / figures["page_with_100"], most=1.5),
    }
    report("breakers-page", bars, milliseconds={name: round(one * 1000, 2) for name, one in figures.items()})


def make_theirs(client: redis.Redis) -> None:
    for number in range(LARGE):
        name, is_open = f"api-{number}:pybreaker", number % OPEN_EVERY == 0
        values = {"state": "open" if is_open else "closed", "fail_counter": "0", "success_counter": "0"}
        if is_open:
            values["opened_at"] = "1700000000"
        client.mset({f"{name}:{part}": value for part, value in values.items()})


def make_ours(numbers: Iterable[int]) -> None:
    """Breakers as processes announce them, opened as failures open them, and copied to Postgres as beat does."""
    policy = Policy(failure_threshold=1, open_seconds=3600)
    execute = get_redis().execute_command
    for number in numbers:
        name = f"api-{number}"
        scripts.announce(execute, name, None, policy.as_json, f"target {number}")
        if number % OPEN_EVERY == 0:
            scripts.fail(execute, name, None, 0, 0, 1, 0, 3_600_000, "ConnectionError: refused")
    tasks.tend()


def forget_ours() -> None:
    get_redis().flushdb()
    Breaker.objects.all().delete()
    Reading.objects.all().delete()


def show(client: Client) -> None:
    response = client.get("/breakers/")
    assert response.status_code == 200
    assert b"not closed" in response.content


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
