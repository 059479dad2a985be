"""A pytest plugin: with --gallery=DIRECTORY it keeps every page that a test's client gets."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.template import Template
from django.test import Client

from tests.gallery.branches import mark_branches, taken


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--gallery", type=Path, required=True, help="where to keep the pages")


@pytest.fixture(autouse=True, scope="session")
def _templates_have_marks() -> Iterator[None]:
    read = Template.__init__

    def read_and_mark(self: Template, *arguments: Any, **options: Any) -> None:
        read(self, *arguments, **options)
        mark_branches(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "__init__", read_and_mark)
        yield


@pytest.fixture(autouse=True)
def _pages_are_kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    folder: Path = request.config.getoption("--gallery")
    folder.mkdir(parents=True, exist_ok=True)
    ask = Client.request

    def ask_and_keep(self: Client, **environ: Any) -> HttpResponse:
        taken.clear()
        answer: HttpResponse = ask(self, **environ)
        if "text/html" in answer.headers.get("Content-Type", "") and not answer.streaming:
            keep(folder, answer, request.node.nodeid)
        return answer

    monkeypatch.setattr(Client, "request", ask_and_keep)


def keep(folder: Path, answer: HttpResponse, test: str) -> None:
    """Under a name that the same page has again; of several processes that see it at once one keeps it."""
    name = hashlib.sha256(answer.content).hexdigest()[:16]
    seen = {"test": test, "status": answer.status_code, "branches": sorted(taken)}
    with suppress(FileExistsError):
        with (folder / f"{name}.json").open("x") as file:
            json.dump(seen, file)
        # To htmx goes a part, without the shell.
        if b"<html" in answer.content:
            (folder / f"{name}.html").write_bytes(answer.content)
