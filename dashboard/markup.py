"""HTML from values, for what is drawn hundreds of times on a page.

Django's `format_html` also takes translations that are still to be made, keyword arguments and forms, and asks for each
value whether it is one: that costs more than the rest of a row. Here a value is safe already, or it is text.
"""

from html import escape
from typing import Any

from django.utils.safestring import SafeString


def markup(template: str, *values: Any) -> SafeString:
    """The template, which is ours, with its values escaped."""
    return SafeString(template.format(*map(escaped, values)))


def escaped(value: Any) -> str:
    return value if isinstance(value, SafeString) else escape(str(value))
