"""Panels that apps add to the overview, such as a guided visit; who has seen enough of one puts it away."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from dashboard.models import DismissedPanel

# What the template gets as `panel`, for this user; None: there is nothing to show at the moment.
Finder = Callable[[User | AnonymousUser], Any]


@dataclass(frozen=True)
class Panel:
    name: str
    title: str
    template: str
    find: Finder


@dataclass(frozen=True)
class Shown:
    """A panel with what it has to say."""

    name: str
    title: str
    template: str
    facts: Any


_panels: dict[str, Panel] = {}


def register(name: str, *, title: str, template: str, find: Finder) -> None:
    """Add a panel, once a process starts; `find` is called whenever the overview is drawn, so it must be cheap."""
    _panels[name] = Panel(name, title, template, find)


def list_panels(user: User | AnonymousUser) -> list[Shown]:
    """The panels that have something to say and that the user has not put away."""
    if not _panels:
        return []
    dismissed = set(DismissedPanel.objects.filter(user=user.pk).values_list("name", flat=True))
    found = [(panel, panel.find(user)) for name, panel in _panels.items() if name not in dismissed]
    return [Shown(panel.name, panel.title, panel.template, facts) for panel, facts in found if facts]


def dismiss(user: User, name: str) -> bool:
    """Put a panel away for this user, and for nobody else; False if there is none of that name."""
    if name not in _panels:
        return False
    DismissedPanel.objects.get_or_create(user=user, name=name)
    return True
