"""What is taken out of payloads to stand beside the letter is seen by everybody, so it must not be masked there."""

from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from dlq.api import find_masked
from sources.base import Source
from sources.sql.mapping import VALUES
from sources.sql.source import SqlSource

# Recording takes masked values out of these.
TEXTS = frozenset({"error_message", "stacktrace"})


def refuse_masked(sources: list[Source]) -> None:
    """Stop if a source or consumer takes a value from a path that is masked."""
    for where, key, path in [*list_paths(sources), *list_sequences()]:
        if masked := find_masked(path):
            raise ImproperlyConfigured(
                f"{where} takes {key} from {path}, where everybody would see what REDRIVE_MASKED_PATHS masks at "
                f"{masked}; take it from elsewhere, or do not mask it."
            )


def list_paths(sources: list[Source]) -> Iterator[tuple[str, str, str]]:
    for source in sources:
        if isinstance(source, SqlSource) and source.mapping:
            for key in VALUES:
                path = getattr(source.mapping, key)
                if path.startswith("$") and key not in TEXTS:
                    yield f"[sources.{source.name}] (kind {source.kind})", key, path


def list_sequences() -> Iterator[tuple[str, str, str]]:
    for name, values in settings.CONSUMERS.items():
        if "sequence" in values:
            yield f"[consumers.{name!r}]", "sequence", values["sequence"]
