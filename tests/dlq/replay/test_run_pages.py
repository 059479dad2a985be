"""Replays on pages once they run, and the switch that stops them all."""

from collections.abc import Callable

from django.test import Client
from django.urls import reverse
from django.utils.html import strip_tags

from dashboard.memo import forget_all
from dashboard.models import AuditEntry, Run
from dlq.models import FailureGroup, ReplaySwitch
from tests.dlq.replay.conftest import run_all, totals
from tests.dlq.replay.test_replay_pages import confirm
from tests.markup import read_html


def test_a_paused_run_says_why_and_the_switch_how_many_it_would_stop(
    operator: Client, viewer: Client, fail: Callable[..., None]
) -> None:
    fail("a", "b")
    _, form = confirm(operator, "scope=matching")
    operator.post(reverse("dlq:replay"), form)
    run = run_all(Run.objects.get())
    assert run.state == Run.State.PAUSED
    html = read_html(operator.get(reverse("runs:run", args=[run.pk])))
    assert '<p class="message warn"><span>1 failed; it was the first.' in html
    assert "1 run is paused" in read_html(operator.get(reverse("runs:runs")))
    html = read_html(operator.get(reverse("dlq:confirm_stop_replays")))
    assert "<b>1</b> replay is under way or paused now." in html
    operator.get("/")
    page = read_html(operator.post(reverse("dlq:stop_replays"), {"reason": "fire"}, follow=True))
    # What every page says is kept for a moment, but not from whoever has just changed it.
    assert "All replays have been stopped by some-operator since" in page
    html = read_html(operator.get(reverse("dlq:confirm_stop_replays")))
    assert "All replays are stopped already" in html
    html = read_html(operator.get(reverse("runs:run", args=[run.pk])))
    assert "Stop all replays…" not in html
    assert "this run is paused besides: it goes on when they are allowed again and somebody has" in html
    assert "Allow them again…" in html
    html = read_html(viewer.get(reverse("runs:run", args=[run.pk])))
    assert "All replays have been stopped by some-operator" in html
    assert "Allow them again…" not in html


def test_the_page_of_a_run_names_what_fails_and_offers_it_again(
    operator: Client, fail: Callable[..., None], mend: Callable[..., None]
) -> None:
    fail("a", "b")
    _, form = confirm(operator, "scope=matching")
    operator.post(reverse("dlq:replay"), form | {"start": "all", "stop_after": ""})
    run = run_all(Run.objects.get())
    html = read_html(operator.get(reverse("runs:run", args=[run.pk])))
    assert "same error" in html
    assert "<b>4</b> held: behind an earlier letter of the same sequence<" in html
    assert '<span class="badge warn">Finished</span>' in html
    assert "<h1>Replay 6 letters of letters: finished; 2 failed with the same error, 4 held</h1>" in html
    listed = "<span>6 of 6</span> <span>2 failed with the same error</span> <span>4 held</span>"
    assert listed in read_html(operator.get(reverse("runs:runs")))
    ended = read_html(operator.get(reverse("runs:confirm_cancel", args=[run.pk])))
    assert f"<h1>Run {run.pk} has ended</h1>" in ended
    mend()
    assert "Replay what failed or was held" in html
    html, form = confirm(operator, f"scope=run&run={run.pk}")
    assert f"manage.py replay --failed-in-run {run.pk} --canary" in strip_tags(html)
    operator.post(reverse("dlq:replay"), form)
    assert totals(run_all(Run.objects.latest("pk"))) == {"succeeded": 6}


def test_the_switch_is_on_every_page_while_it_is_on(operator: Client, viewer: Client, admin: Client) -> None:
    operator.post(reverse("dlq:stop_replays"), {"reason": "payments are down"})
    assert ReplaySwitch.objects.get().stopped_by == "some-operator"
    link = f'<a href="{reverse("dlq:confirm_allow_replays")}" data-dialog>Allow them again…</a>'
    for name in ("overview", "dlq:groups", "projections:projections", "runs:runs", "audit"):
        html = read_html(admin.get(reverse(name)))
        assert "All replays have been stopped by some-operator since" in html
        assert "payments are down." in html
        assert link in html
    # A live region is told too, and who may not end it gets no link.
    html = read_html(viewer.get(reverse("runs:runs"), headers={"HX-Request": "true"}))
    assert 'id="banners"' in html
    assert "All replays have been stopped by" in html
    assert link not in html
    html = read_html(viewer.get(reverse("overview")))
    assert "<strong>All replays are stopped</strong>" in html
    assert reverse("dlq:confirm_allow_replays") not in html
    operator.post(reverse("dlq:allow_replays"))
    forget_all()
    assert "replays have been stopped" not in read_html(admin.get(reverse("audit")))
    assert not ReplaySwitch.objects.exists()
    actions = AuditEntry.objects.filter(action__startswith="replay.").values_list("action", flat=True)
    assert set(actions) == {"replay.stop_all", "replay.allow_all"}


def test_a_live_run_is_shown_in_place_where_its_letters_are(
    operator: Client, viewer: Client, fail: Callable[..., None], mend: Callable[..., None]
) -> None:
    fail("a", "b")
    fail("c", how="KeyError")
    mend()
    group = FailureGroup.objects.get(error_type="ValueError")
    _, form = confirm(operator, f"scope=group&group={group.pk}")
    operator.post(reverse("dlq:replay"), form)
    run = Run.objects.get()
    sentence = "Replay 6 letters of letters: 6 still to do"
    for url in (reverse("dlq:group", args=[group.pk]), reverse("dlq:letters")):
        html = read_html(operator.get(url))
        assert sentence in html
        assert f'action="{reverse("runs:pause", args=[run.pk])}"' in html
        assert reverse("runs:confirm_cancel", args=[run.pk]) in html
        assert reverse("runs:pause", args=[run.pk]) not in read_html(viewer.get(url))
    # Two of the three open letters are in it.
    assert html.count(f">in run {run.pk}</a>") == 2
    other = FailureGroup.objects.get(error_type="KeyError")
    assert sentence not in read_html(operator.get(reverse("dlq:group", args=[other.pk])))
    run_all(run)
    assert sentence not in read_html(operator.get(reverse("dlq:group", args=[group.pk])))


def test_a_paused_run_is_resumed_beside_its_letters_without_standing_out_there(
    operator: Client, viewer: Client, fail: Callable[..., None]
) -> None:
    fail("a", "b")
    _, form = confirm(operator, "scope=matching")
    operator.post(reverse("dlq:replay"), form)
    run = run_all(Run.objects.get())
    assert run.state == Run.State.PAUSED
    resume = f'action="{reverse("runs:resume", args=[run.pk])}"'
    group = reverse("dlq:group", args=[FailureGroup.objects.get().pk])
    for url, button in (
        (reverse("runs:run", args=[run.pk]), '<button class="btn primary">Resume</button>'),
        (reverse("dlq:letters"), '<button class="btn">Resume</button>'),
        (group, '<button class="btn">Resume</button>'),
    ):
        html = read_html(operator.get(url))
        assert (html.count(resume), html.count(button)) == (1, 1)
        assert '<span class="badge warn">Paused</span>' in html
        assert resume not in read_html(viewer.get(url))


def test_a_preview_and_a_run_that_waits_say_that_replays_are_stopped(
    operator: Client, fail: Callable[..., None]
) -> None:
    fail("a")
    _, form = confirm(operator, "scope=matching")
    operator.post(reverse("dlq:replay"), form)
    operator.post(reverse("dlq:stop_replays"), {"reason": "payments are down"})
    html = read_html(operator.get(reverse("runs:run", args=[Run.objects.get().pk])))
    assert (
        "All replays are stopped: this run waits until they are allowed again, and keeps its place." in html
    )
    assert "Waiting for a worker" not in html
    fail("b")
    html, _ = confirm(operator, "scope=matching")
    assert "All replays are stopped: none can be started until they are allowed again." in html
    # It would scroll that out of a narrow screen.
    assert "autofocus" not in html
    assert '<button class="btn primary" disabled>' in html
    answer = read_html(operator.post(reverse("dlq:replay"), confirm(operator, "scope=matching")[1]))
    assert "Nothing was started. All replays have been stopped by some-operator since" in answer
    assert "All replays are stopped" not in answer
