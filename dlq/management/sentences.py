"""What `manage.py replay` says before it asks."""

from collections.abc import Iterator

from breakers.api import Obstacle
from dlq.queries.replay import ReplayPreview
from dlq.queries.reprocess import EventsPreview

LEFT_OUT = {
    "no_target": "have a consumer without a target",
    "erased": "were erased",
    "poison": "are poison (take them with --force and a --reason)",
    "not_offered": "are not offered for replay (take them with --force and a --reason)",
    "behind": "stand behind one that is left out",
    "recent": "were taken by their target a moment ago, which would drop them",
}
EVENTS_LEFT_OUT = {
    "letter": "have an open letter or stand behind one; replay the letters",
    "given_up": "were skipped or discarded by somebody",
    "skipped": "were skipped by the projection; bring them back first",
    "waiting": "wait for a breaker",
}


def describe_obstacles(obstacles: list[Obstacle] | None) -> Iterator[str]:
    if obstacles is None:
        yield "Redis does not answer, so nobody knows which breakers are in the way."
    else:
        yield from (one.sentence for one in obstacles)


def describe_letters(found: ReplayPreview) -> Iterator[str]:
    yield f"{found.title}: {found.sequence_count:,} sequences, in order."
    if found.follower_count:
        yield f"{found.follower_count:,} of them are followers that come along."
    for reason, number in found.left_out.items():
        yield f"Left out: {number:,} that {LEFT_OUT[reason]}."
    if found.in_run_count:
        runs = f"run{'' if len(found.run_ids) == 1 else 's'} {', '.join(map(str, found.run_ids))}"
        yield f"Left out: {found.in_run_count:,} that are in {runs}."
    if found.earlier_count:
        yield f"{found.earlier_count:,} open letters stand before them; take them --with-earlier."
    if found.later_count:
        yield f"{found.later_label} later events were handled already; --acknowledge it."
    for health in found.health:
        yield health.sentence
    yield from describe_obstacles(found.obstacles)


def describe_events(found: EventsPreview) -> Iterator[str]:
    yield f"{found.title}: {found.stream_count:,} streams, in order, up to position {found.watermark:,}."
    for reason, number in found.left_out.items():
        yield f"Left out: {number:,} that {EVENTS_LEFT_OUT[reason]}."
    yield "They were handled before: their effects are repeated, and come after later events; --acknowledge it."
    yield found.health.sentence
    yield from describe_obstacles(found.obstacles)
