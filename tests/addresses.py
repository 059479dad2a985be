"""Every address that the console has, from the URL resolver, so that no test forgets a new one."""

from collections.abc import Iterator, Mapping

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
        "foreign_id",
        "skip_id",
        "request_id",
        "token_id",
        "item_id",
    ),
    "1",
) | {
    "token": "no-such-token",
    "panel": "no-such-panel",
    "name": "no-such-source",
    "story": "no-such-story",
}
CONVERTERS = {
    "IntConverter": "int",
    "StringConverter": "str",
    "PathConverter": "path",
    "UUIDConverter": "uuid",
}


def list_addresses(values: Mapping[str, str] = SAMPLES) -> list[tuple[str, str]]:
    """Each address with these values, and its name."""
    return sorted(walk(get_resolver("dashboard.urls"), values))


def walk(resolver: URLResolver, values: Mapping[str, str], prefix: str = "/") -> Iterator[tuple[str, str]]:
    for entry in resolver.url_patterns:
        route = prefix + str(entry.pattern)
        if isinstance(entry, URLResolver):
            yield from walk(entry, values, route)
        elif isinstance(entry, URLPattern):
            for name, converter in entry.pattern.converters.items():
                route = route.replace(f"<{CONVERTERS[type(converter).__name__]}:{name}>", values[name])
            yield route, entry.name or ""
