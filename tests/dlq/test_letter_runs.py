"""Verbs over many letters, as runs in a real worker."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from dashboard.models import Run
from dashboard.runs import lanes, states
from dashboard.runs.kinds import MORE
from dashboard.runs.operations import cancel_run
from dlq import items, preview
from dlq.filters import LetterFilter
from dlq.models import ClassificationRule, DeadLetter, LetterRunItem
from dlq.operations import ConfirmAgain, Done, add_rule, apply_rules
from dlq.reclassify import count_reclassified
from dlq.selection import newest_id, select_ids, select_matching
from tests.dlq.counting import assert_counters_are_right
from tests.processes import running_worker
from tests.wait import until

pytestmark = pytest.mark.django_db(transaction=True)

Do = Callable[..., Done]
Make = Callable[..., list[DeadLetter]]


@pytest.fixture(autouse=True)
def _few_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlq.operations.letters.MOST_AT_ONCE", 5)


def has_ended(run: Run | None) -> bool:
    assert run is not None
    run.refresh_from_db()
    return not run.is_active


def totals(run: Run | None) -> dict[str, int]:
    assert run is not None
    found: dict[str, int] = {}
    for lane in run.lanes.all():
        for name, number in lane.totals.items():
            found[name] = found.get(name, 0) + number
    return {name: number for name, number in found.items() if number}


def test_a_run_closes_exactly_the_frozen_letters_and_reports_what_moved(
    do: Do, make_letters: Make, open_filter: LetterFilter, tmp_path: Path
) -> None:
    letters = make_letters(30, sequence_key="s")
    run = do("discard", select_matching(open_filter), 30).run
    assert not DeadLetter.objects.exclude(status="failed").exists()
    make_letters(1, event_id="newer")
    DeadLetter.objects.filter(pk=letters[3].pk).update(status="resolved")
    with running_worker(tmp_path / "worker.log"):
        until(lambda: has_ended(run))
    assert totals(run) == {"done": 29, "moved": 1}
    assert DeadLetter.objects.filter(status="discarded").count() == 29
    assert DeadLetter.objects.get(status="failed").event_id == "newer"
    assert not LetterRunItem.objects.filter(is_active=True).exists()
    assert_counters_are_right()


def test_a_letter_is_in_one_active_run_and_free_again_when_that_has_ended(
    do: Do, make_letters: Make, open_filter: LetterFilter
) -> None:
    letters = make_letters(10)
    selection = select_matching(open_filter)
    run = do("resolve", selection, 10).run
    assert run is not None
    with pytest.raises(ConfirmAgain) as raised:
        do("discard", selection, 10)
    assert raised.value.now == 0
    assert do("discard", select_ids([letters[0].pk]), 1).moved_count == 1
    cancel_run(run, actor="someone", reason="")
    items.release_ended()
    assert LetterRunItem.objects.filter(outcome="not done").count() == 10
    assert preview.preview(run_verb(), selection).count == 10


def test_what_a_broken_run_has_in_hand_is_free_only_when_its_worker_is_done(
    do: Do, make_letters: Make, open_filter: LetterFilter
) -> None:
    make_letters(10, sequence_key="s")
    run = do("resolve", select_matching(open_filter), 10).run
    assert run is not None
    number, epoch = run.lanes.values_list("number", "epoch").get(total=10)
    hold = lanes.claim(run.pk, number, epoch, holder="a worker")
    assert hold is not None
    states.move(run.pk, Run.State.FAILED, note="another lane broke")
    items.release_ended()
    assert LetterRunItem.objects.filter(is_active=True).count() == 10
    lanes.release(hold, MORE)
    items.release_ended()
    assert not LetterRunItem.objects.filter(is_active=True).exists()


def run_verb() -> preview.Verb:
    from dlq.verbs import VERBS

    return VERBS["resolve"]


def test_a_double_click_is_one_run(do: Do, make_letters: Make, open_filter: LetterFilter) -> None:
    make_letters(10)
    key = uuid4()
    runs = {do("resolve", select_matching(open_filter), 10, request_key=key).run for _ in range(2)}
    assert len(runs) == 1
    assert LetterRunItem.objects.count() == 10


def test_a_rule_says_what_it_would_change_and_a_run_applies_it(
    someone: User, make_letters: Make, tmp_path: Path
) -> None:
    make_letters(8, error_message="gateway said no")
    make_letters(4, consumer="other", error_message="gateway said no")
    rule = ClassificationRule(consumer="billing", message_pattern="gateway*no", category="dependency")
    preview_of_it = count_reclassified(rule)
    assert (preview_of_it.number, preview_of_it.is_exact) == (8, True)
    add_rule(rule, actor=someone)
    run = apply_rules(rule, watermark=newest_id(), confirmed=8, actor=someone, request_key=uuid4())
    with running_worker(tmp_path / "worker.log"):
        until(lambda: has_ended(run))
    assert totals(run) == {"changed": 8}
    assert DeadLetter.objects.filter(category="dependency", classified_by=str(rule)).count() == 8
    assert_counters_are_right()
