from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from dashboard.models import AuditEntry, Run
from dlq.models import DeadLetter, FailureGroup
from tests.dlq.replay.conftest import run_all, totals


def replay(*arguments: str) -> str:
    output = StringIO()
    call_command("replay", *arguments, stdout=output)
    return output.getvalue()


@pytest.mark.parametrize("select", ["--group={group}", "--letter={letter}", "--filter=consumer=letters"])
def test_it_says_what_it_would_touch_and_starts_exactly_that(
    fail: Callable[..., None], mend: Callable[..., None], select: str
) -> None:
    fail("a")
    mend()
    ids = {"group": FailureGroup.objects.get().pk, "letter": DeadLetter.objects.get(status="failed").pk}
    said = replay(select.format(**ids), "--yes", "--reason=mended")
    assert "Replay 3 letters of letters: 1 sequences" in said
    assert "2 of them are followers" in said
    run = run_all(Run.objects.get())
    assert (run.reason, totals(run)) == ("mended", {"succeeded": 3})
    assert "(command line)" in AuditEntry.objects.get(action="replay.start").actor


def test_what_failed_in_a_run_can_be_replayed_again(
    fail: Callable[..., None], mend: Callable[..., None]
) -> None:
    fail("a", "b")
    mend("a")
    replay("--filter=consumer=letters", "--yes", "--no-canary")
    first = run_all(Run.objects.get())
    assert totals(first) == {"succeeded": 3, "same_error": 1, "held": 2}
    mend()
    replay(f"--failed-in-run={first.pk}", "--yes", "--no-canary")
    assert totals(run_all(Run.objects.latest("pk"))) == {"succeeded": 3}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--group=999"], "no failure group 999"),
        (["--filter=nonsense=1"], "nonsense"),
        (["--filter=consumer=letters", "--yes", "--force"], "Say why poison"),
    ],
)
def test_it_refuses_with_a_sentence(fail: Callable[..., None], arguments: list[str], sentence: str) -> None:
    fail("a")
    with pytest.raises(CommandError, match=sentence):
        replay(*arguments)
    assert not Run.objects.exists()
