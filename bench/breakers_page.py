"""The breakers page with 10,000 breakers of which 200 are open: its data against SCAN + MGET, the page against a small one.

SCAN + MGET is what shows open breakers without an index: look for the state keys of all of them, read them, keep those
that are open. Both are measured on the same server with the same number of breakers.
"""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client

from bench.report import Bar, median_seconds, report
from breakers import scripts, tasks
from breakers.policy import Policy
from breakers.queries import get_board
from dashboard.redis import get_redis

SMALL, LARGE = 100, 10_000
# One in fifty is open.
OPEN_EVERY = 50
BATCH = 1000


def main() -> None:
    client = Client()
    client.force_login(User.objects.create_user("bench"))
    make_breakers(range(SMALL))
    small_page = median_seconds(lambda: show(client))
    make_breakers(range(SMALL, LARGE))
    large_page = median_seconds(lambda: show(client))
    ours = median_seconds(read_ours)
    scan = median_seconds(read_by_scan, times=7)
    bars = {
        "vs_scan": Bar(scan / ours, least=30),
        "vs_small": Bar(large_page / small_page, most=1.5),
    }
    figures = {"scan": scan, "ours": ours, "page_with_100": small_page, "page_with_10000": large_page}
    report(
        "breakers-page", bars, milliseconds={name: round(value * 1000, 2) for name, value in figures.items()}
    )


def make_breakers(numbers: Iterable[int]) -> None:
    """Breakers as processes announce them, opened as failures open them, and the state keys that a scan would look for."""
    policy = Policy(failure_threshold=1, open_seconds=3600)
    redis = get_redis()
    # Whatever the scripts need is loaded before they are sent in a pipeline, where nobody could send them again.
    scripts.announce(redis.execute_command, "bench-0", None, policy.as_json, "")
    scripts.fail(redis.execute_command, "bench-0", None, 0, 0, 1, 0, 3_600_000, "")
    pipeline = redis.pipeline(transaction=False)
    for number in numbers:
        name, is_open = f"bench-{number}", number % OPEN_EVERY == 0
        scripts.announce(pipeline.execute_command, name, None, policy.as_json, f"target {number}")
        if is_open:
            scripts.fail(
                pipeline.execute_command, name, None, 0, 0, 1, 0, 3_600_000, "ConnectionError: refused"
            )
        pipeline.set(f"{name}:pybreaker:state", "open" if is_open else "closed")
        if number % BATCH == 0:
            pipeline.execute()
    pipeline.execute()
    tasks.tend()


def show(client: Client) -> None:
    response = client.get("/breakers/")
    assert response.status_code == 200
    assert b"not closed" in response.content


def read_ours() -> None:
    board = get_board(QueryDict(), search="", state="", first_open=0)
    assert (board.open_count, board.total_count) == (LARGE // OPEN_EVERY, LARGE)


def read_by_scan() -> None:
    redis = get_redis()
    found = []
    for keys in batches(redis.scan_iter(match="*:pybreaker:state", count=BATCH)):
        found += [key for key, state in zip(keys, redis.mget(keys), strict=True) if state == "open"]
    assert len(found) == LARGE // OPEN_EVERY


def batches(keys: Iterable[str]) -> Iterable[list[str]]:
    batch: list[str] = []
    for key in keys:
        batch.append(key)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
