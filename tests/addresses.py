"""Every address that the console has, from the URL resolver, so that no test forgets a new one."""

from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

# A value for each name that stands in an address; the row need not exist.
SAMPLES = dict.fromkeys(
    (
        "run_id",
        "user_id",
        "group_id",
        "letter_id",
        "rule_id",
        "projection_id",
        "skip_id",
        "request_id",
    ),
    "1",
) | {"token": "no-such-token", "panel": "no-such-panel", "story": "no-such-story"}
CONVERTERS = {
    "IntConverter": "int",
    "StringConverter": "str",
    "PathConverter": "path",
    "UUIDConverter": "uuid",
}


def list_addresses() -> list[tuple[str, str]]:
    """Each address with example values, and its name."""
    return sorted(walk(get_resolver("dashboard.urls")))


def walk(resolver: URLResolver, prefix: str = "/") -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk(entry, route)
        elif isinstance(entry, URLPattern):
            for name, converter in entry.pattern.converters.items():
                route = route.replace(f"<{CONVERTERS[type(converter).__name__]}:{name}>", SAMPLES[name])
            yield route, entry.name or ""
