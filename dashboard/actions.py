"""The closed list of what people can do: each action is an audit entry's name and a permission in one.

A section adds its own in `<section>/actions.py`; they are collected when Django starts.
"""

from dataclasses import dataclass

VIEWER, OPERATOR, ADMIN = ROLES = ("viewer", "operator", "admin")


@dataclass(frozen=True)
class Action:
    """`noun.verb`, the sentence that explains it, and the least role that may do it (None: nobody asks)."""

    name: str
    description: str
    role: str | None = None

    @property
    def roles(self) -> tuple[str, ...]:
        return () if self.role is None else ROLES[ROLES.index(self.role) :]


_registered: dict[str, Action] = {}


def register(*actions: Action) -> None:
    for action in actions:
        _registered[action.name] = action


def get_action(name: str) -> Action:
    """The registered action; an unknown name is a programming error and raises KeyError."""
    return _registered[name]


def find_action(name: str) -> Action | None:
    """None if the code that had this action is no longer installed; its audit entries stay."""
    return _registered.get(name)


def list_actions() -> list[Action]:
    return sorted(_registered.values(), key=lambda action: action.name)


register(
    Action("session.start", "Someone signed in."),
    Action("session.end", "Someone signed out."),
    Action("session.refuse", "A sign-in was refused because of too many failures."),
    Action("link.create", "A one-time sign-in link was made on the console's own machine."),
    Action("audit.export", "The audit trail was downloaded as CSV.", ADMIN),
    Action("user.create", "A user was created."),
    Action("user.disable", "A user may no longer sign in.", ADMIN),
    Action("user.enable", "A user may sign in again.", ADMIN),
    Action("user.assign_role", "A user was given another role.", ADMIN),
    Action("run.pause", "A run was asked to stop after the slice in hand, and keep its place.", OPERATOR),
    Action("run.resume", "A paused run was sent on its way again.", OPERATOR),
    Action("run.cancel", "A run was ended before its end; what it had done stays done.", OPERATOR),
)
