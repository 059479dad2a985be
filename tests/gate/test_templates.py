"""A template loads the tags and filters that it uses, and no others: Django does not say so."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import TemplateSyntaxError, engines

LOAD = re.compile(r"\{% load ([^%]+) %\}")
TEMPLATES = sorted((settings.BASE_DIR / "templates").rglob("*.html"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: str(path.relative_to(settings.BASE_DIR)))
def test_every_library_that_is_loaded_is_needed(path: Path) -> None:
    text = path.read_text()
    for load in LOAD.finditer(text):
        for library in load[1].split():
            others = " ".join(name for name in load[1].split() if name != library)
            without = text.replace(load[0], f"{{% load {others} %}}" if others else "", 1)
            with pytest.raises(TemplateSyntaxError):
                engines["django"].from_string(without)
