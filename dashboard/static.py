"""Static files with their content's hash in the address, so that browsers may keep them for ever."""

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage


class VersionedStaticFiles(StaticFilesStorage):
    def url(self, name: str | None) -> str:
        return f"{super().url(name)}?v={version(name or '')}"


@cache
def version(name: str) -> str:
    """Ten characters that change when the file does; read once a process."""
    path = finders.find(name)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:10] if path else "missing"
