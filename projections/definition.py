"""How user code declares a projection; see docs/projections.md for a whole one."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

from django.core.exceptions import ImproperlyConfigured

from projections.models import Criticality, Effects
from projections.policies import Policy, may_skip
from projections.presets import FATAL
from projections.store import StoredEvent

Handler = Callable[..., None]
F = TypeVar("F", bound=Handler)
P = TypeVar("P", bound="type[Projector]")

# Longer than this for one event is a sign of poison (C16).
TIMEOUT_SECONDS = 60.0


def handles(*event_types: str) -> Callable[[F], F]:
    """Mark a method as the handler of these types; it gets one event."""

    def mark(method: F) -> F:
        method.handled_types = event_types  # type: ignore[attr-defined]
        return method

    return mark


def handles_batch(*event_types: str) -> Callable[[F], F]:
    """Mark the method that gets many events of these types at once, in order; only with effects in this database."""

    def mark(method: F) -> F:
        method.batch_types = event_types  # type: ignore[attr-defined]
        return method

    return mark


class Projector:
    """Subclass it, decorate it with `register`, and name its app in REDRIVE_APPS."""

    name: ClassVar[str] = ""
    # A table, or a method `def policy(self, context)`.
    policy: Policy = FATAL
    criticality: ClassVar[Criticality] = Criticality.STANDARD
    effects: ClassVar[Effects] = Effects.DATABASE
    # Whether events of different streams may be replayed at the same time.
    parallel_by_sequence: ClassVar[bool] = False
    # Its handlers only send statements and look at no result, nor at a row count as the ORM's save() does: then they
    # need not wait for each other's answers, which is three times as fast.
    is_pipelined: ClassVar[bool] = False
    # How long one try may take, unless the policy says.
    timeout_seconds: ClassVar[float] = TIMEOUT_SECONDS
    # Where the runbook is; a link on the projection's page.
    runbook: ClassVar[str] = ""

    handlers: ClassVar[dict[str, str]]
    batch_handlers: ClassVar[dict[str, str]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        methods = [(name, getattr(cls, name)) for name in dir(cls) if not name.startswith("__")]
        cls.handlers = {
            event_type: name
            for name, method in methods
            for event_type in getattr(method, "handled_types", ())
        }
        cls.batch_handlers = {
            event_type: name for name, method in methods for event_type in getattr(method, "batch_types", ())
        }
        cls.event_types = sorted({*cls.handlers, *cls.batch_handlers})

    event_types: ClassVar[list[str]] = []

    def handle(self, event: StoredEvent) -> None:
        """One event, by its own handler, or by the batch handler where it has none."""
        if event.type in self.handlers:
            getattr(self, self.handlers[event.type])(event)
        else:
            self.handle_batch([event])

    def handle_batch(self, events: list[StoredEvent]) -> None:
        """Events that have the same batch handler."""
        getattr(self, self.batch_handlers[events[0].type])(events)

    def truncate(self) -> None:
        """Empty the read model, so that it can be rebuilt; without one there is no rebuild."""
        raise NotImplementedError

    @property
    def supports_rebuild(self) -> bool:
        return type(self).truncate is not Projector.truncate

    @property
    def attempt_seconds(self) -> float:
        return getattr(self.policy, "timeout_seconds", None) or self.timeout_seconds


_registered: dict[str, Projector] = {}


def register(projector: P) -> P:
    """Class decorator: make the projection known by its name."""
    check(projector)
    _registered[projector.name] = projector()
    return projector


def check(projector: type[Projector]) -> None:
    def refuse(sentence: str) -> ImproperlyConfigured:
        return ImproperlyConfigured(f"{projector.__module__}.{projector.__qualname__}: {sentence}")

    if not projector.name:
        raise refuse("it has no name.")
    if (
        projector.name in _registered
        and type(_registered[projector.name]).__qualname__ != projector.__qualname__
    ):
        raise refuse(f"there is another projection named {projector.name!r}.")
    if not projector.event_types:
        raise refuse("it handles no event type; mark a method with handles(…).")
    if projector.criticality == Criticality.LEDGER and may_skip(projector.policy):
        raise refuse("a ledger may not skip events.")
    if projector.effects == Effects.EXTERNAL and projector.batch_handlers:
        raise refuse("a batch handler can only have effects in this database.")


def list_projectors() -> list[Projector]:
    return [_registered[name] for name in sorted(_registered)]


def find_projector(name: str) -> Projector | None:
    """None: no installed app registers it."""
    return _registered.get(name)
