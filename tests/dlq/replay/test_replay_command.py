from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from dashboard.models import AuditEntry, Run
from dlq.models import DeadLetter, FailureGroup
from tests.dlq.replay.conftest import run_all, totals


def replay(*arguments: str) -> str:
    output = StringIO()
    call_command("replay", *arguments, stdout=output)
    return output.getvalue()


@pytest.mark.parametrize(
    "select", ["--group={group}", "--letter={letter}", "--filter=consumer=letters", "--filter=status=open"]
)
def test_it_says_what_it_would_touch_and_starts_exactly_that(
    fail: Callable[..., None], mend: Callable[..., None], select: str
) -> None:
    fail("a")
    mend()
    ids = {"group": FailureGroup.objects.get().pk, "letter": DeadLetter.objects.get(status="failed").pk}
    said = replay(select.format(**ids), "--yes", "--reason=mended")
    assert "Replay 3 letters of letters: 1 sequence, in order." in said
    assert "2 of them are followers that come along." in said
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


def test_what_comes_along_and_what_stays_is_said_with_its_number(
    fail: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("builtins.input", lambda _: "no")
    fail("a")
    second = DeadLetter.objects.get(sequence_no=2)
    said = replay(f"--letter={second.pk}")
    for sentence in (
        "Replay 2 letters of letters: 1 sequence, in order.",
        "1 of them is a follower that comes along.",
        "1 open letter stands before them; take it --with-earlier.",
        "Nothing was started.",
    ):
        assert sentence in said
    DeadLetter.objects.filter(sequence_no=1).update(tier="poison")
    said = replay(f"--letter={second.pk}")
    assert "1 open letter stands before them and cannot come along: poison, erased or not offered" in said
    DeadLetter.objects.filter(sequence_no=1).update(erased_at=timezone.now())
    said = replay(f"--letter={second.pk}", "--force", "--reason=mended")
    assert "1 open letter stands before them and cannot come along: with an erased payload." in said
    DeadLetter.objects.filter(sequence_no=1).update(erased_at=None)
    said = replay("--filter=status=open")
    assert "Nothing to replay." in said
    assert "1 left out: poison (--force takes such letters along, with a --reason)." in said
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--group=999"], "no failure group 999"),
        (["--group=0"], "'0' is not a whole number from 1 to"),
        (["--filter=nonsense=1"], "nonsense"),
        (["--filter=consumer=letters", "--pace=0"], "'0' is not a whole number from 1 to 100,000"),
        (["--filter=consumer=letters", "--stop-after=-1"], "'-1' is not a whole number from 0 to 1,000,000"),
        (["--filter=consumer=letters"], "with --yes nobody is asked"),
        (["--filter=consumer=letters", "--yes", "--force"], "Say why poison"),
    ],
)
def test_it_refuses_with_a_sentence(
    fail: Callable[..., None], monkeypatch: pytest.MonkeyPatch, arguments: list[str], sentence: str
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO())
    fail("a")
    with pytest.raises(CommandError, match=sentence):
        replay(*arguments)
    assert not Run.objects.exists()
