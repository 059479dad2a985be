"""An event that kills its process, with real processes that really die."""

from collections.abc import Callable
from pathlib import Path

import pytest

from dlq.models import DeadLetter
from projections.models import Projection
from tests.processes import Process
from tests.wait import until


@pytest.mark.parametrize(("name", "others"), [("letters", [1, 2, 4, 5]), ("mailer", [1, 2, 4, 5])])
def test_the_third_death_makes_the_event_poison_and_the_rest_goes_on(
    tmp_path: Path, pay: Callable[..., int], applied: Callable[[str], list[int]], name: str, others: list[int]
) -> None:
    pay("a", 1, 2)
    pay("b", 3, mark="x", how="die")
    pay("c", 4, 5)
    process = Process("manage.py", "consume", name, log=tmp_path / "consume.log")
    try:
        until(lambda: Projection.objects.get(name=name).position == 5)
    finally:
        process.kill()
    letter = DeadLetter.objects.get()
    assert (letter.position, letter.tier, letter.category) == (3, "poison", "poison")
    assert letter.error_type == "ProcessDied"
    assert applied(name) == others
    log = (tmp_path / "consume.log").read_text()
    assert log.count("its process ended (-9)") == 3


def test_a_child_that_is_started_anew_while_its_parent_stops_stops_too(tmp_path: Path) -> None:
    process = Process("-m", "tests.projections.late", str(tmp_path / "started"), log=tmp_path / "consume.log")
    try:
        assert process.popen.wait(timeout=30) == 0
    finally:
        process.kill()
