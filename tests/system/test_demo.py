"""The demo shop as a newcomer meets it; and the console without it, from the same directory, which is empty."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.console import Console
from tests.visitor import Visitor
from tests.wait import until

# Each on the overview.
WANTED = (
    "order-summary fails",
    "ledger has stopped on one event",
    r"hooks\.\w+\.example is (open|half open)",
)
# The past takes seconds, and minutes on a machine that is busy with ten other things.
PATIENCE = 300.0
pytestmark = pytest.mark.system


def visit(console: Console) -> Visitor:
    """Somebody who follows the printed link."""
    link = console.wait_until_ready()
    base, _, path = link.partition("/login/")
    visitor = Visitor(base)
    visitor.get(f"/login/{path}")
    assert visitor.post(f"/login/{path}") == 302
    return visitor


def test_it_lives_within_a_minute_and_is_left_behind_without_a_trace(
    data_dir: Path, start_console: Callable[..., Console]
) -> None:
    console = start_console(data_dir, demo=True)
    visitor = visit(console)
    # What is on the overview was really produced: the past is made by the runtime and the breakers.
    for wanted in WANTED:
        until(lambda wanted=wanted: re.search(wanted, visitor.get("/")[1]), PATIENCE)
    until(lambda: "A past of" in console.output, PATIENCE)
    overview = visitor.get("/")[1]
    assert "Your first visit" in overview
    assert "The demo shop runs version 1.7.2, which has a bug" in visitor.get("/demo/")[1]
    assert "ERROR" not in console.output
    console.close()

    without = start_console(data_dir)
    visitor = visit(without)
    overview = visitor.get("/")[1]
    assert "All quiet" in overview
    assert "Your first visit" not in overview
    assert visitor.get("/demo/")[0] == 404
    assert "order-summary" not in visitor.get("/projections/")[1]
