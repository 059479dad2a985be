"""Strict readers of environment variables; `settings.py` is their only caller."""

import json
import os
import re
from collections.abc import Mapping
from string import Formatter
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off"}
JSON_PATH = re.compile(r"^\$(?:\.[\w-]+|\[\*\])+$")


class Env:
    """Reads variables, and stops the start with one sentence when a value makes no sense."""

    def __init__(self, variables: Mapping[str, str] = os.environ) -> None:
        self.variables = variables

    def text(self, name: str, default: str = "") -> str:
        return self.variables.get(name, "").strip() or default

    def boolean(self, name: str, default: bool) -> bool:
        value = self.text(name).lower()
        if not value:
            return default
        if value not in TRUE | FALSE:
            raise ImproperlyConfigured(f"{name} is {value!r}; write 1 or 0.")
        return value in TRUE

    def number(self, name: str, default: int, *, least: int = 0, most: int = 2**31) -> int:
        value = self.text(name)
        if not value:
            return default
        if not value.isascii() or not value.isdigit() or not least <= int(value) <= most:
            raise ImproperlyConfigured(
                f"{name} is {value!r}; write a whole number from {least:,} to {most:,}."
            )
        return int(value)

    def choice(self, name: str, default: str, choices: set[str]) -> str:
        value = self.text(name, default)
        if value not in choices:
            raise ImproperlyConfigured(f"{name} is {value!r}; write one of {', '.join(sorted(choices))}.")
        return value

    def zone(self, name: str, default: str) -> str:
        value = self.text(name, default)
        try:
            ZoneInfo(value)
        # A part of a name, such as Europe, is a directory.
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise ImproperlyConfigured(
                f"{name} is {value!r}; write a zone that this machine knows, such as Europe/Berlin."
            ) from None
        return value

    def words(self, name: str) -> list[str]:
        """The comma-separated parts of a variable; empty when it is unset."""
        return [word.strip() for word in self.text(name).split(",") if word.strip()]

    def json_paths(self, name: str) -> list[str]:
        """Paths such as $.customer.email or $.items[*].card, separated by commas; one misread would show a secret."""
        paths = self.words(name)
        for path in paths:
            if not JSON_PATH.match(path):
                raise ImproperlyConfigured(
                    f"{name} has {path!r}; write it like $.customer.email or $.items[*].card."
                )
        return paths

    def links(self, name: str, placeholders: set[str]) -> dict[str, str]:
        """Addresses by label, as a JSON object; each may hold placeholders such as {trace_id}."""
        try:
            links = json.loads(self.text(name, "{}"))
        except ValueError:
            links = None
        if not isinstance(links, dict) or not all(isinstance(url, str) for url in links.values()):
            raise ImproperlyConfigured(
                f'{name} must be a JSON object such as {{"Trace": "https://…/{{trace_id}}"}}.'
            )
        for url in links.values():
            self.check_template(name, url, placeholders)
        return links

    def template_url(self, name: str, placeholders: set[str]) -> str:
        """An address with placeholders; empty when it is unset."""
        url = self.text(name)
        if url:
            self.check_template(name, url, placeholders)
        return url

    def check_template(self, name: str, url: str, placeholders: set[str]) -> None:
        try:
            found = {field for _, field, _, _ in Formatter().parse(url) if field is not None}
        except ValueError:
            found = {url}
        if not url.startswith(("https://", "http://")) or not found <= placeholders:
            allowed = ", ".join(f"{{{field}}}" for field in sorted(placeholders))
            raise ImproperlyConfigured(
                f"{name} has {url!r}; write an http(s) address that holds only {allowed}."
            )

    def url(self, name: str, default: str, schemes: set[str]) -> str:
        value = self.text(name, default)
        if value.partition("://")[0] not in schemes:
            # The value may hold a password, so the message does not repeat it.
            raise ImproperlyConfigured(
                f"{name} must begin with one of {', '.join(f'{s}://' for s in sorted(schemes))}."
            )
        return value

    def json_objects(self, name: str) -> dict[str, dict[str, Any]]:
        """A JSON object of objects; empty when it is unset."""
        try:
            value = json.loads(self.text(name, "{}"))
        except ValueError as error:
            raise ImproperlyConfigured(f"{name} is not JSON: {error}.") from None
        if not isinstance(value, dict) or not all(isinstance(part, dict) for part in value.values()):
            raise ImproperlyConfigured(f'{name} must look like {{"name": {{"setting": 1}}}}.')
        return value
