"""Which decision a failure gets: a table, or any callable that takes a FailureContext and returns a decision."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from projections.decisions import Decision, FailureContext, Fatal, Retry, Skip

Policy = Callable[[FailureContext], Decision]


@dataclass(frozen=True)
class PolicyTable:
    """A policy as a table: the event's type decides first, then the exception, then the category, then the default."""

    name: str
    default: Decision = field(default_factory=Fatal)
    by_event_type: Mapping[str, Decision] = field(default_factory=dict)
    by_error: Mapping[type[BaseException], Decision] = field(default_factory=dict)
    by_category: Mapping[str, Decision] = field(default_factory=dict)
    # How long one try may take; None: as long as the projection says.
    timeout_seconds: float | None = None

    def __call__(self, context: FailureContext) -> Decision:
        if context.event.type in self.by_event_type:
            return self.by_event_type[context.event.type]
        for error_type, decision in self.by_error.items():
            if isinstance(context.error, error_type):
                return decision
        return self.by_category.get(context.category, self.default)

    def decisions(self) -> Iterator[Decision]:
        yield from self.by_event_type.values()
        yield from self.by_error.values()
        yield from self.by_category.values()
        yield self.default

    def __str__(self) -> str:
        special = [
            *self.by_event_type.items(),
            *((error_type.__name__, decision) for error_type, decision in self.by_error.items()),
            *self.by_category.items(),
        ]
        rows = [f"{name}: {decision}" for name, decision in special]
        return f"{self.name}; " + "; ".join([*rows, f"{'else' if rows else 'always'}: {self.default}"])


def describe(policy: Policy) -> str:
    return str(policy) if isinstance(policy, PolicyTable) else getattr(policy, "__qualname__", repr(policy))


def may_skip(policy: Policy) -> bool:
    """Whether a table skips anywhere; what a callable does is seen when it answers."""
    return isinstance(policy, PolicyTable) and any(isinstance(d, Skip) for d in policy.decisions())


def longest_retry_seconds(policy: Policy) -> float:
    """How long an event may be held back by retries alone; 0 for a callable, which nobody can ask in advance."""
    if not isinstance(policy, PolicyTable):
        return 0.0
    return max((d.longest_seconds for d in policy.decisions() if isinstance(d, Retry)), default=0.0)
