"""Characters that change the direction of text stay where they are and reorder nothing around them.

A name or an error message from outside may hold a right-to-left override, which would turn round whatever stands behind
it in its line: a number, a button's consequence. Each such character gets an element of its own, in which it ends; it
is seen, and what is copied or sent back is what was there.
"""

import re
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase

# Embeddings, overrides and isolates, their ends, and the marks.
CONTROL = "[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]"
IN_BYTES = re.compile(rb"\xe2\x80[\xaa-\xae\x8e\x8f]|\xe2\x81[\xa6-\xa9]|\xd8\x9c")
# What can hold no element is left as it is: a tag with its attributes, a comment, and text that is no markup.
IN_TEXT = re.compile(
    rf"""<(?P<raw>title|textarea|option|script|style)\b.*?</(?P=raw)\s*>|<!--.*?-->"""
    rf"""|<(?:[^"'>]|"[^"]*"|'[^']*')*>|(?P<control>{CONTROL})""",
    re.DOTALL,
)

GetResponse = Callable[[HttpRequest], HttpResponseBase]


def isolate_directions(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        # Hardly any page has one; looking costs less than a tenth of a millisecond.
        if (
            isinstance(response, HttpResponse)
            and "text/html" in response.get("Content-Type", "")
            and IN_BYTES.search(response.content)
        ):
            response.content = isolate(response.content.decode(response.charset))
        return response

    return middleware


def isolate(html: str) -> str:
    return IN_TEXT.sub(wrap, html)


def wrap(match: re.Match[str]) -> str:
    if control := match["control"]:
        return f'<bdi class="control" title="U+{ord(control):04X}">{control}</bdi>'
    return match[0]
