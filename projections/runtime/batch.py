"""The events of one turn and what became of each; all of it is written in the transaction of the handlers."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from dlq.api import (
    Failure,
    Parked,
    close_rebuilt,
    lock_letters,
    mask_error,
    park_again,
    park_events,
    record_failures,
)
from projections.models import NATIVE, UNBLOCKED, Projection, Skip, Span, WaitingEvent
from projections.runtime.clock import Clock
from projections.runtime.hand import Hand
from projections.runtime.letters import Try, list_failures, make_parked
from projections.runtime.pace import add_pace
from projections.runtime.route import Route, Router
from projections.store import StoredEvent


class CheckpointMovedError(Exception):
    """Somebody else moved the checkpoint; what this batch did is undone."""


class Batch:
    """Collects what became of the events, in order; `save` writes it with the checkpoint."""

    def __init__(
        self, row: Projection, hand: Hand, clock: Clock, router: Router, *, is_behind: bool = False
    ) -> None:
        """`is_behind`: of an event behind the checkpoint; what killed at the checkpoint is still to be found."""
        self.row, self.hand, self.clock, self.router = row, hand, clock, router
        self.is_behind = is_behind
        self.position = row.position
        self.last: StoredEvent | None = None
        self.counts: Counter[str] = Counter()
        self.seen_count = 0
        self.done: list[tuple[int, bool]] = []
        self.skips: list[Skip] = []
        self.failures: list[Failure] = []
        self.parked: list[Parked] = []
        self.waits: list[WaitingEvent] = []
        self.rebuilt: list[str] = []
        # What holds the projection at its checkpoint, as columns of its row, and for how long.
        self.blocked: dict[str, Any] = {}
        self.wait_seconds = 0.0
        self.stops = False

    def move(self, event: StoredEvent) -> None:
        """Once for each event: it is done with, one way or another."""
        if event.position > self.row.position:
            self.seen_count += event.type in self.router.event_types
        if event.position > self.position:
            self.position, self.last = event.position, event

    def succeed(self, event: StoredEvent) -> None:
        self.done.append((event.position, False))
        self.counts["processed"] += 1
        if self.router.has_letter and str(event.event_id) in self.router.has_letter:
            self.rebuilt.append(str(event.event_id))
        self.move(event)

    def pass_by(self, event: StoredEvent, route: Route) -> None:
        """An event that is not tried."""
        if route == Route.IGNORE:
            self.done.append((event.position, True))
            self.counts["ignored"] += 1
            self.move(event)
        elif route == Route.SKIP:
            override = self.router.overrides[str(event.event_id)]
            self.skip(event, override.actor, override.reason or f"{override.kind} by {override.actor}", [])
        elif route == Route.PARK:
            self.park(event)
        else:
            self.wait(event, "", None, [])

    def park(self, event: StoredEvent) -> None:
        self.parked.append(make_parked(self.row.name, event, self.clock.now()))
        self.router.block(event)
        self.counts["parked"] += 1
        self.move(event)

    def skip(self, event: StoredEvent, actor: str, reason: str, tries: list[Try]) -> None:
        last: Try = tries[-1] if tries else {}
        self.skips.append(
            Skip(
                projection=self.row,
                position=event.position,
                event_id=event.event_id,
                event_type=event.type,
                stream=event.stream,
                actor=actor,
                reason=reason,
                attempt=len(tries),
                at=self.clock.now(),
                **{name: last.get(name, "") for name in ("error_type", "error_message", "stacktrace")},
            )
        )
        self.counts["skipped"] += 1
        self.move(event)

    def dead_letter(self, event: StoredEvent, tries: list[Try]) -> None:
        tried = self.router.replace(event)
        self.failures.extend(list_failures(self.row.name, self.hand, event, tries, tried))
        self.router.block(event)
        self.counts["dead_lettered"] += 1
        self.move(event)

    def wait(self, event: StoredEvent, breaker: str, next_at: datetime | None, tries: list[Try]) -> None:
        """Leave the event to be tried when the breaker lets it; `breaker` empty: behind another of its stream."""
        self.waits.append(
            WaitingEvent(
                projection=self.row,
                position=event.position,
                stream=event.stream,
                breaker=breaker,
                since=self.clock.now(),
                next_at=next_at,
                tries=tries,
            )
        )
        self.router.waiting_streams.add(event.stream)
        self.counts["parked"] += 1
        self.move(event)

    def hold(self, event: StoredEvent, block: str, tries: list[Try], *, seconds: float | None) -> None:
        """Stay before this event; `seconds` None: until a person decides."""
        now, last, row = self.clock.now(), tries[-1], self.row
        tried = self.router.replace(event).data
        is_same = bool(row.block) and event.position == row.position + 1
        self.blocked = {
            "block": block,
            "blocked_since": row.blocked_since if is_same else now,
            "next_at": None if seconds is None else now + timedelta(seconds=seconds),
            "error_type": last["error_type"],
            # Shown to everybody; the tries keep what was said, for the letter that may come of them.
            "error_message": mask_error(last["error_message"], tried),
            "stacktrace": mask_error(last["stacktrace"], tried),
        }
        # Only a try that counts is remembered: an outage or a breaker uses up none.
        if block in (Projection.Block.RETRY, Projection.Block.FATAL):
            self.blocked |= {"attempt": len(tries), "tries": tries}
        self.stops = seconds is None
        self.wait_seconds = seconds or 0.0

    def save(self) -> None:
        """Most batches have nothing but spans, a pace and a checkpoint to write."""
        if self.failures or self.parked or self.rebuilt:
            self.save_letters()
        Skip.objects.bulk_create(
            self.skips,
            update_conflicts=True,
            unique_fields=["projection", "position"],
            update_fields=["actor", "reason", "error_type", "error_message", "stacktrace", "attempt"],
        )
        WaitingEvent.objects.bulk_create(self.waits)
        Span.objects.bulk_create(make_spans(self.row, self.done))
        add_pace(self.row, self.counts, self.clock.now())
        self.save_checkpoint()

    def save_letters(self) -> None:
        if self.parked or self.rebuilt:
            ids = [one.event_id for one in (*self.failures, *self.parked)] + self.rebuilt
            lock_letters(self.row.name, ids, source=NATIVE)
        record_failures(self.failures)
        park_again(self.row.name, [parked.event_id for parked in self.parked], source=NATIVE)
        park_events(self.parked)
        close_rebuilt(self.row.name, self.rebuilt, source=NATIVE, closed_by="redrive")

    def save_checkpoint(self) -> None:
        row = self.row
        changes: dict[str, Any] = {"position": self.position, "trial_by": None}
        changes["seen_count"] = F("seen_count") + self.seen_count
        if self.last:
            changes |= {
                "last_event_id": self.last.event_id,
                "last_event_type": self.last.type,
                "last_event_at": self.last.recorded_at,
                "last_processed_at": self.clock.now(),
            }
        if not self.is_behind:
            changes["deaths"] = min(row.deaths, 1) if self.position < row.careful_to else 0
        if self.position > row.position:
            changes |= UNBLOCKED
        changes |= self.blocked
        found = Projection.objects.filter(pk=row.pk, position=row.position, trial_by=row.trial_by)
        # Newer code may have declared other types meanwhile: then this batch has gone past events that it handles.
        if not found.filter(event_types=row.event_types).update(**changes):
            raise CheckpointMovedError(
                f"{row.name} is no longer at {row.position}, or handles other types now"
            )
        if self.stops:
            # One that somebody has paused meanwhile stays paused.
            going = Projection.objects.filter(pk=row.pk, state=self.hand.state)
            going.update(state=Projection.State.STOPPED, state_since=self.clock.now())


def make_spans(row: Projection, done: list[tuple[int, bool]]) -> list[Span]:
    """One span for each unbroken run of positions; what is missing in between stays a hole to be explained."""
    spans: list[Span] = []
    for position, is_ignored in sorted(done):
        if not spans or spans[-1].last != position - 1:
            spans.append(Span(projection=row, first=position, last=position))
        spans[-1].last = position
        spans[-1].ignored_count += is_ignored
    return spans
