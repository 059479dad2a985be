"""The kinds of runs over letters: the same verbs as on the page, in slices, by workers."""

from collections.abc import Callable

from dashboard.models import Run
from dashboard.runs import kinds
from dashboard.runs.kinds import DONE, MORE, Outcome, Step
from dashboard.runs.lanes import Hold
from dlq import verbs
from dlq.models import LetterRunItem
from dlq.reclassify import reclassify
from dlq.replay.kind import Replay
from dlq.reprocess.kind import Reprocess

# A slice is one transaction: long enough to be quick, short enough to pause soon.
SLICE = 500
# What follows when all letters are closed and their followers are to be replayed; apps.py says, as it stands above.
_follow_ups: list[Callable[[Run], None]] = []
MOVED = Outcome("moved", "moved meanwhile, left alone", "warn")


class VerbKind:
    """Does a verb to the run's letters."""

    def __init__(self, verb: verbs.Verb) -> None:
        self.verb = verb
        self.name = verb.name
        self.outcomes: tuple[Outcome, ...] = (Outcome("done", verb.done, "good"), MOVED)

    def work(self, hold: Hold) -> Step:
        with hold.recording() as lane:
            waiting = list_waiting(hold)
            ids = list(waiting.values())
            touched = set(verbs.apply(self.verb, ids, actor=hold.run.requested_by, reason=hold.run.reason))
            for outcome, is_done in (("done", True), ("moved", False)):
                items = [item for item, letter in waiting.items() if (letter in touched) is is_done]
                finish(items, outcome)
                lane.count(outcome, len(items))
        if len(waiting) == SLICE:
            return MORE
        if hold.run.options.get("replays_followers"):
            follow_up(hold.run)
        return DONE


class Reclassify:
    """Classifies the run's letters again, by the rules as they are now."""

    name = "reclassify"
    outcomes: tuple[Outcome, ...] = (
        Outcome("changed", "classified differently", "good"),
        Outcome("same", "as before", "mute"),
        Outcome("unread", "masked by other rules than today's, as before", "mute"),
        MOVED,
    )

    def work(self, hold: Hold) -> Step:
        with hold.recording() as lane:
            waiting = list_waiting(hold)
            outcomes = reclassify(list(waiting.values()))
            for outcome in self.outcomes:
                items = [
                    item for item, letter in waiting.items() if outcomes.get(letter, "moved") == outcome.name
                ]
                finish(items, outcome.name)
                lane.count(outcome.name, len(items))
        return DONE if len(waiting) < SLICE else MORE


def follow_up(run: Run) -> None:
    """After each lane's end; the last one to come finds all letters closed. If it dies here it is asked again."""
    if not LetterRunItem.objects.filter(run=run, is_active=True).exists():
        for call in _follow_ups:
            call(run)


def when_closed(call: Callable[[Run], None]) -> None:
    _follow_ups.append(call)


def list_waiting(hold: Hold) -> dict[int, int]:
    """The next items of the lane and their letters."""
    waiting = LetterRunItem.objects.filter(run_id=hold.run.pk, lane=hold.number, is_active=True)
    return dict(waiting.order_by("id").values_list("id", "letter_id")[:SLICE])


def finish(items: list[int], outcome: str) -> None:
    LetterRunItem.objects.filter(pk__in=items).update(outcome=outcome, is_active=False)


for verb in verbs.VERBS.values():
    kinds.register(VerbKind(verb))
kinds.register(Reclassify())
kinds.register(Replay(), queue="replays")
kinds.register(Reprocess(), queue="replays")
