"""The sections in the header: one list for the navigation and for the list of keys."""

from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse

from dashboard.access import may

# Name of the page, label, key after "g", and the action without which it is not shown ("": everybody sees it).
SECTIONS = [
    ("overview", "Overview", "o", ""),
    ("dlq:groups", "Dead letters", "d", ""),
    ("projections:projections", "Projections", "p", ""),
    ("breakers:breakers", "Breakers", "b", ""),
    ("sources:sources", "Sources", "s", ""),
    ("runs:runs", "Runs", "r", ""),
    ("workers", "Workers", "w", ""),
    ("audit", "Audit", "a", ""),
    ("users", "Users", "u", "user.assign_role"),
]


def add(name: str, label: str, key: str) -> None:
    """Put an app's page after the sections; the app says so when Django starts."""
    SECTIONS.append((name, label, key, ""))


@dataclass(frozen=True)
class Item:
    url: str
    label: str
    key: str
    is_current: bool


def list_items(request: HttpRequest) -> list[Item]:
    items = []
    for name, label, key, action in SECTIONS:
        if action and not may(request.user, action):
            continue
        url = reverse(name)
        is_current = request.path == url if url == "/" else request.path.startswith(url)
        items.append(Item(url, label, key, is_current))
    return items
