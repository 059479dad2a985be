"""A JSON document as a foldable tree; everything in it is hostile text and is escaped here."""

import json
from collections.abc import Iterator
from typing import Any

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from dashboard.markup import markup
from dlq.cleaning import clean_payload
from dlq.masking import get_masking

# A page shows this many values and offers the rest as a download.
MOST_NODES = 1_000
MOST_CHARACTERS = 2_000
# What stands open at first.
OPEN_DEPTH = 3
FOLDED = "<details><summary>{} <i>{}</i> {}</summary><ul>{}</ul></details>"
OPENED = FOLDED.replace("<details>", "<details open>")


class Tree:
    """Draws a document; `is_cut` afterwards says whether something was left out."""

    def __init__(self, document: Any) -> None:
        self.left = MOST_NODES
        self.is_cut = False
        self.html = self.draw(document, 0)

    def draw(self, value: Any, depth: int) -> SafeString:
        self.left -= 1
        if isinstance(value, dict):
            return self.draw_children("{", "}", value.items(), len(value), depth)
        if isinstance(value, list):
            return self.draw_children("[", "]", enumerate(value), len(value), depth)
        text = json.dumps(value, ensure_ascii=False)
        if len(text) > MOST_CHARACTERS:
            self.is_cut = True
            text = f"{text[:MOST_CHARACTERS]}…"
        kind = "text" if isinstance(value, str) else "word"
        return markup('<span class="json-{}">{}</span>', kind, text)

    def draw_children(self, opening: str, closing: str, children: Any, number: int, depth: int) -> SafeString:
        if not number:
            return markup("{}{}", opening, closing)
        return markup(
            OPENED if depth < OPEN_DEPTH else FOLDED,
            opening,
            f"{number:,}",
            closing,
            format_html_join("", "<li><b>{}</b>: {}</li>", self.draw_each(children, depth + 1)),
        )

    def draw_each(self, children: Any, depth: int) -> Iterator[tuple[Any, SafeString]]:
        for key, child in children:
            if self.left <= 0:
                self.is_cut = True
                return
            yield key, self.draw(child, depth)


def draw_masked(document: Any) -> Tree | None:
    """A payload as everybody may see it; None if it is too large or too deep for that."""
    payload = clean_payload(document)
    return Tree(get_masking().mask_document(payload.value)) if payload.is_readable else None
