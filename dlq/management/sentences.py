"""What `manage.py replay` says before it asks."""

from collections.abc import Collection, Iterator

from breakers.api import Obstacle
from dashboard.words import agree, counted
from dlq.queries.replay import ReplayPreview
from dlq.queries.reprocess import EventsPreview

FORCE = "(--force takes such letters along, with a --reason)"
LEFT_OUT = {
    "no_target": "of a consumer without a target",
    "erased": "with an erased payload",
    "poison": f"poison {FORCE}",
    "not_offered": f"not offered for replay {FORCE}",
    "behind": "behind one that is left out",
    "recent": "taken by the target a moment ago, which would drop what comes again",
}
EVENTS_LEFT_OUT = {
    "letter": "with an open letter, or behind one; replay the letters",
    "given_up": "skipped or discarded by somebody",
    "skipped": "skipped by the projection, and to be brought back first",
    "waiting": "waiting for a breaker",
}


def describe_obstacles(obstacles: list[Obstacle] | None) -> Iterator[str]:
    if obstacles is None:
        yield "Redis does not answer, so nobody knows which breakers are in the way."
    else:
        yield from (one.sentence for one in obstacles)


def name_runs(run_ids: Collection[int]) -> str:
    return f"{agree(len(run_ids), 'run')} {', '.join(map(str, run_ids))}"


def describe_letters(found: ReplayPreview, *, force: bool = False) -> Iterator[str]:
    if found.count:
        yield f"{found.title}: {counted(found.sequence_count, 'sequence')}, in order."
    else:
        yield "Nothing to replay."
    if found.follower_count:
        them = agree(found.follower_count, "is a follower that comes", "are followers that come")
        yield f"{found.follower_count:,} of them {them} along."
    if found.replaced_count:
        whose = "its payload" if found.count == 1 else f"the payload of {found.replaced_label} of them"
        yield f"Somebody has replaced {whose}."
    for reason, number in found.left_out.items():
        yield f"{number:,} left out: {LEFT_OUT[reason]}."
    if found.in_run_count:
        yield f"{found.in_run_count:,} left out: in {name_runs(found.run_ids)}."
    if found.ahead:
        stand = counted(found.ahead_count, "open letter stands", "open letters stand")
        where = f"{agree(found.ahead_count, 'is', 'are')} in {name_runs(found.ahead)}"
        unless = f"unless {agree(found.ahead_count, 'it is', 'they are')} settled by then"
        yield f"{stand} before {agree(found.count, 'it', 'them')} and {where}: what stands behind is held, {unless}."
    if found.earlier_count:
        stand = counted(found.earlier_count, "open letter stands", "open letters stand")
        it = agree(found.earlier_count, "it", "them")
        yield f"{stand} before {agree(found.count, 'it', 'them')}; take {it} --with-earlier."
    if found.in_front_count:
        stand = counted(found.in_front_count, "open letter stands", "open letters stand")
        why = "with an erased payload" if force else f"poison, erased or not offered for replay {FORCE}"
        yield f"{stand} before {agree(found.count, 'it', 'them')} and cannot come along: {why}."
    if found.later_count:
        were = agree(found.later_count, "event was", "events were")
        yield f"{found.later_label} later {were} handled already; --acknowledge it."
    yield from describe_dry_run(found, "sequence", "letter")
    for health in found.health:
        yield health.sentence
    yield from describe_obstacles(found.obstacles)


def describe_dry_run(found: ReplayPreview | EventsPreview, whole: str, part: str) -> Iterator[str]:
    if found.beyond_count and not found.no_dry_run:
        tried, rest = f"the first {found.most_together:,}", counted(found.beyond_count, part)
        yield f"Of each {whole} a dry run tries only {tried}; what comes after those is held, {rest} in all."


def describe_events(found: EventsPreview) -> Iterator[str]:
    if found.count:
        streams = counted(found.stream_count, "stream")
        yield f"{found.title}: {streams}, in order, up to position {found.watermark:,}."
    else:
        yield "Nothing to reprocess."
    for reason, number in found.left_out.items():
        yield f"{number:,} left out: {EVENTS_LEFT_OUT[reason]}."
    if found.count:
        was = agree(found.count, "It was", "They were")
        its = agree(found.count, "its effects are", "their effects are")
        yield f"{was} handled before: {its} repeated, and come after later events; --acknowledge it."
        yield from describe_dry_run(found, "stream", "event")
        yield found.health.sentence
    yield from describe_obstacles(found.obstacles)
