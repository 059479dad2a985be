"""Replay through its pages: previewed, confirmed, shown; the five questions, and the switch."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEntry, Run
from dlq.models import DeadLetter, FailureGroup, ReplaySwitch
from projections.models import Projection
from tests.dlq.replay.conftest import run_all, totals


def read_form(html: str) -> dict[str, str]:
    """The hidden fields of a confirmation, as a browser would send them."""
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', html))


def confirm(client: Client, query: str) -> tuple[str, dict[str, str]]:
    html = client.get(f"{reverse('dlq:confirm_replay')}?{query}").content.decode()
    return html, read_form(html) | {"start": "canary", "stop_after": "5", "lanes": "4", "reason": "mended"}


def test_it_works_from_preview_to_page(
    operator: Client, fail: Callable[..., None], mend: Callable[..., None]
) -> None:
    fail("a", "b")
    mend()
    group = FailureGroup.objects.get()
    assert "Replay 2…" in operator.get(reverse("dlq:group", args=[group.pk])).content.decode()
    html, form = confirm(operator, f"scope=group&group={group.pk}")
    assert "Replay 6 letters of letters" in html
    assert "<b>2</b> sequences, each in order · <b>4</b> followers come along" in html
    assert f"manage.py replay --group {group.pk} --canary" in html
    answer = operator.post(reverse("dlq:replay"), form)
    run = Run.objects.get()
    assert answer["Location"] == reverse("runs:run", args=[run.pk])
    assert (run.requested_by, run.reason) == ("some-operator", "mended")
    assert totals(run_all(run)) == {"succeeded": 6}
    html = operator.get(reverse("runs:run", args=[run.pk])).content.decode()
    assert "succeeded <b>6</b>" in html
    assert "it came to the rest" in html
    assert AuditEntry.objects.get(action="replay.start").details["count"] == 6


def test_it_rejects_get_and_a_viewer_may_not(
    viewer: Client, operator: Client, fail: Callable[..., None]
) -> None:
    fail("a")
    letter = DeadLetter.objects.get(status="failed")
    assert operator.get(reverse("dlq:replay")).status_code == 405
    assert viewer.get(f"{reverse('dlq:confirm_replay')}?id={letter.pk}").status_code == 403
    assert viewer.post(reverse("dlq:replay"), {"id": letter.pk, "count": 3}).status_code == 403
    assert "Replay…" not in viewer.get(reverse("dlq:letter", args=[letter.pk])).content.decode()
    assert not Run.objects.exists()


def test_twice_is_once(operator: Client, fail: Callable[..., None]) -> None:
    fail("a")
    _, form = confirm(operator, "scope=matching&consumer=letters")
    places = {operator.post(reverse("dlq:replay"), form)["Location"] for _ in range(2)}
    assert len(places) == Run.objects.count() == 1


def test_what_has_changed_is_asked_about_again(operator: Client, fail: Callable[..., None]) -> None:
    fail("a", "b")
    _, form = confirm(operator, "scope=matching&consumer=letters")
    DeadLetter.objects.filter(sequence_key="a", sequence_no=1).update(status="discarded")
    answer = operator.post(reverse("dlq:replay"), form)
    assert answer.status_code == 409
    assert "6 letters were confirmed, and now there are" in answer.content.decode()
    assert not Run.objects.exists()


def test_earlier_letters_can_be_included_and_poison_taken_along(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a")
    middle = DeadLetter.objects.get(sequence_no=2)
    html, _ = confirm(operator, f"id={middle.pk}")
    assert "1 open letter stands before them" in html
    html, _ = confirm(operator, f"id={middle.pk}&with_earlier=1")
    assert "Replay 3 letters" in html
    DeadLetter.objects.filter(sequence_no=1).update(tier="poison")
    html, _ = confirm(operator, "scope=matching")
    assert "<b>1</b> left out: poison" in html
    html, form = confirm(operator, "scope=matching&force=1")
    assert "Replay 3 letters" in html
    answer = operator.post(reverse("dlq:replay"), form | {"reason": ""})
    assert answer.status_code == 409
    assert operator.post(reverse("dlq:replay"), form).status_code == 302


@pytest.mark.parametrize("wrong", [{"pace": "quick"}, {"lanes": "3"}, {"start": "somehow"}])
def test_a_wrong_option_is_named(operator: Client, fail: Callable[..., None], wrong: dict[str, str]) -> None:
    fail("a")
    _, form = confirm(operator, "scope=matching")
    answer = operator.post(reverse("dlq:replay"), form | wrong)
    assert answer.status_code == 422
    assert f"{next(iter(wrong))}:" in answer.content.decode()


def test_many_letters_take_the_number_typed(
    operator: Client, fail: Callable[..., None], settings: pytest.FixtureRequest
) -> None:
    settings.TYPE_NUMBER_ABOVE = 2  # type: ignore[attr-defined]
    fail("a")
    _, form = confirm(operator, "scope=matching")
    assert operator.post(reverse("dlq:replay"), form).status_code == 422
    assert operator.post(reverse("dlq:replay"), form | {"typed": "3"}).status_code == 302


def test_the_page_of_a_run_names_what_fails_and_offers_it_again(
    operator: Client, fail: Callable[..., None], mend: Callable[..., None]
) -> None:
    fail("a", "b")
    _, form = confirm(operator, "scope=matching")
    operator.post(reverse("dlq:replay"), form | {"start": "all", "stop_after": ""})
    run = run_all(Run.objects.get())
    html = operator.get(reverse("runs:run", args=[run.pk])).content.decode()
    assert "same error" in html
    assert "stands before it in its sequence" in html
    mend()
    assert "Replay what failed or was held" in html
    html, form = confirm(operator, f"scope=run&run={run.pk}")
    assert f"manage.py replay --failed-in-run {run.pk} --canary" in html
    operator.post(reverse("dlq:replay"), form)
    assert totals(run_all(Run.objects.latest("pk"))) == {"succeeded": 6}


def test_the_switch_is_on_every_page_while_it_is_on(operator: Client) -> None:
    operator.post(reverse("dlq:stop_replays"), {"reason": "payments are down"})
    assert ReplaySwitch.objects.get().stopped_by == "some-operator"
    assert "All replays are stopped" in operator.get(reverse("overview")).content.decode()
    operator.post(reverse("dlq:allow_replays"))
    assert not ReplaySwitch.objects.exists()
    actions = AuditEntry.objects.filter(action__startswith="replay.").values_list("action", flat=True)
    assert set(actions) == {"replay.stop_all", "replay.allow_all"}


@pytest.mark.parametrize(("followers", "status"), [("replay", "resolved"), ("wait", "parked")])
def test_discarding_a_head_lets_its_followers_drain_or_stay_as_chosen(
    operator: Client,
    fail: Callable[..., None],
    pay: Callable[..., int],
    work: Callable[..., Projection],
    applied: Callable[[str], list[int]],
    followers: str,
    status: str,
) -> None:
    fail("a")
    head = DeadLetter.objects.get(status="failed")
    html = operator.get(f"{reverse('dlq:confirm_discard')}?id={head.pk}").content.decode()
    form = read_form(html) | {"followers": followers, "reason": "given up"}
    assert operator.post(reverse("dlq:discard"), form).status_code == 302
    # An event that comes before the followers have drained is parked behind them, and drains with them.
    pay("a", 4)
    work("letters")
    for run in Run.objects.all():
        run_all(run)
    assert set(DeadLetter.objects.exclude(pk=head.pk).values_list("status", flat=True)) == {status}
    assert applied("letters") == ([2, 3, 4] if followers == "replay" else [])
