"""The example in docs/projections.md runs as it stands."""

import re
import sys
from pathlib import Path

import pytest

from projections import definition
from projections.declared import sync_declared
from projections.models import Projection
from projections.runtime.hand import LIVE
from projections.runtime.turn import take_turn
from tests.shop import models
from tests.shop.models import Balance

DOCS = Path(__file__).parents[2] / "docs" / "projections.md"


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> None:
    """An app named shop, as the example has it, and a registry that forgets it."""
    monkeypatch.setitem(sys.modules, "shop", sys.modules["tests.shop"])
    monkeypatch.setitem(sys.modules, "shop.models", models)
    monkeypatch.setattr(definition, "_registered", {})


def test_the_example_consumes_what_it_appends(shop: None, clock: object) -> None:
    code = re.findall(r"```python\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert len(code) == 2
    for block in code:
        exec(compile(block, str(DOCS), "exec"), {"__name__": "shop.projections"})  # noqa: S102
    sync_declared()
    projector = definition.find_projector("balances")
    assert projector is not None
    take_turn(projector, LIVE, clock)  # type: ignore[arg-type]
    assert Balance.objects.get(account="account-7").amount == 8
    assert "ledger" in Projection.objects.get(name="balances").policy
