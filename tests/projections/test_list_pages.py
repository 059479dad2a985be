"""The lists of projections, skipped events and requests, in the states that are rare."""

import re
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.memo import forget_all
from dashboard.models import Run
from dashboard.paging import write_cursor
from dlq.api import record_failure
from projections.models import ForeignProjection, Projection, RebuildRequest, Skip
from projections.operations import deny_rebuild, grant_rebuild, request_rebuild
from projections.requests import expire
from tests.markup import read_html
from tests.projections.test_pages import age, consumed

__all__ = ["consumed"]

Pay = Callable[..., int]
Work = Callable[..., Projection]


def show(client: Client, name: str = "projections", query: str = "") -> str:
    address = reverse(f"projections:{name}")
    return " ".join(read_html(client.get(f"{address}{query}")).split())


def test_one_that_needs_somebody_is_the_headline(
    viewer: Client, pay: Pay, work: Work, consumed: None
) -> None:
    pay("a", 1, mark="x", how="ValueError")
    work("journal")
    html = show(viewer)
    assert "<h1>journal: stopped</h1>" in html
    assert (
        '<p class="sub">Stopped just now on the event at 1: ValueError: amount 17 is not possible.</p>'
        in html
    )


def test_its_letters_are_not_those_of_another_systems_consumer_with_its_name(
    viewer: Client, pay: Pay, work: Work
) -> None:
    pay("a", 1, mark="x", how="KeyError")
    row = work("letters")
    record_failure(source="bank", consumer="letters", event_id="e1", error_type="E")
    page = read_html(viewer.get(reverse("projections:projection", args=[row.pk])))
    links = re.findall(r'href="(/dead-letters/letters/\?[^"]+)"', show(viewer) + page)
    # The open ones, and with them the closed ones.
    among_open, among_all = sorted(set(links))
    assert "<h1>1 open letter</h1>" in read_html(viewer.get(unescape(among_open)))
    assert "<h1>1 letter</h1>" in read_html(viewer.get(unescape(among_all)))


def test_one_of_another_system_is_named_with_its_source(viewer: Client, consumed: None) -> None:
    ForeignProjection.objects.create(
        source="bank", name="balances", state="stalled", lag=2, evidence="It does not move."
    )
    html = show(viewer)
    assert "<h1>bank/balances: stalled</h1>" in html
    assert '<p class="sub">It does not move.</p>' in html
    # And it stands before those that need nobody.
    assert html.index("Run by other systems") < html.index('id="projection-')
    ForeignProjection.objects.update(state="running")
    html = show(viewer)
    assert html.index("Run by other systems") > html.index('id="projection-')


def test_one_of_another_system_that_runs_and_needs_somebody_is_behind(viewer: Client, consumed: None) -> None:
    now = timezone.now()
    given = {"state": "running", "read_at": now, "oldest_at": now - timedelta(minutes=10)}
    ForeignProjection.objects.create(source="bank", name="balances", lag=2, **given)
    html = show(viewer)
    assert "<h1>bank/balances: behind</h1>" in html
    assert '<span class="badge warn">Behind</span>' in html


@pytest.mark.parametrize(
    ("given", "headline"),
    [
        ({"reset": {"verdict": "undone", "sentence": "It seems undone."}}, "bank/balances: reset undone"),
        ({"unaccounted": {"number": 2, "sentence": "2 left no letter."}}, "bank/balances: unaccounted"),
    ],
)
def test_what_happened_to_its_events_outweighs_that_it_runs(
    viewer: Client, consumed: None, given: dict[str, dict[str, object]], headline: str
) -> None:
    for details in given.values():
        details["newest_at"] = timezone.now().isoformat()
    ForeignProjection.objects.create(source="bank", name="balances", state="running", lag=0, **given)
    html = show(viewer)
    assert headline in html
    assert html.index("Run by other systems") < html.index('id="projection-')
    assert "every projection is up to date" not in read_html(viewer.get("/"))


def test_without_projections_it_says_how_to_have_one(viewer: Client) -> None:
    Projection.objects.all().delete()
    html = show(viewer)
    assert "<h1>No projection yet</h1>" in html
    assert "No installed app declares a projection" in html
    ForeignProjection.objects.create(source="bank", name="balances", lag=0)
    html = show(viewer)
    assert "All projections are up to date" in html
    assert "No installed app declares a projection" not in html


def test_skips_of_one_projection(operator: Client, pay: Pay, work: Work) -> None:
    row = Projection.objects.get(name="cache")
    html = show(operator, "skips", f"?projection={row.pk}")
    assert "<h1>Skipped events of cache</h1>" in html
    assert "cache has skipped no event" in html
    assert "Show those of all projections" in html
    pay("a", 1, mark="x", how="ValueError")
    work("cache")
    html = show(operator, "skips", f"?projection={row.pk}")
    assert "Bring back…" in html
    after = quote(write_cursor(Skip.objects.get(), "at"))
    beyond = show(operator, "skips", f"?projection={row.pk}&after={after}")
    assert "cache has skipped no event" not in beyond
    assert f'No skipped event is on this page</strong><p><a href="?projection={row.pk}">' in beyond
    assert 'a cache entry is fetched again when it is missed<div class="dim">by policy</div>' in html
    assert "Show those of all projections" in html


@pytest.fixture
def asked() -> RebuildRequest:
    row = Projection.objects.get(name="letters")
    return request_rebuild(row, actor="olga", reason="the totals are off")


def test_a_request_shows_who_decided_and_why(operator: Client, asked: RebuildRequest) -> None:
    html = show(operator, "requests")
    assert "1 rebuild is asked for" in html
    assert "open until " in html
    assert "Grant…" not in html
    # On the projection's own page it is not taken for a rebuild that succeeded.
    page = read_html(operator.get(reverse("projections:projection", args=[asked.projection_id])))
    assert '<span class="badge info">Asked for</span>' in page
    deny_rebuild(asked, actor="ada", reason="not in office hours")
    assert "<div>ada: not in office hours</div>" in show(operator, "requests")


def test_a_granted_request_links_to_its_run(operator: Client, asked: RebuildRequest) -> None:
    grant_rebuild(asked, actor="ada", reason="go on", request_key=uuid4())
    run = Run.objects.get()
    html = show(operator, "requests")
    assert "<div>ada: go on</div>" in html
    assert f'<a href="{reverse("runs:run", args=[run.pk])}">See run {run.pk}</a>' in html


def test_a_request_that_lapsed_says_so(admin: Client, asked: RebuildRequest) -> None:
    RebuildRequest.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    html = show(admin, "requests")
    assert "No rebuild is asked for" in html
    # Beat has not come round yet, and nothing can be granted any more.
    assert "nobody decided in time" in html
    assert "Grant…" not in html
    expire()
    html = show(admin, "requests")
    assert "nobody decided in time" in html
    assert ">Expired</span>" in html


def test_one_that_is_paused_is_not_up_to_date(viewer: Client) -> None:
    Projection.objects.exclude(name="cache").delete()
    Projection.objects.update(state="paused")
    html = show(viewer)
    assert "<h1>cache: paused</h1>" in html
    assert "Paused; it keeps its place until somebody resumes it.</p>" in html
    Projection.objects.create(name="gone", state="paused")
    assert "2 of 2 projections are worth a look" in show(viewer)


def test_one_that_is_behind_is_the_headline_unless_another_may_be(
    viewer: Client, pay: Pay, consumed: None
) -> None:
    Projection.objects.exclude(name="cache").delete()
    pay("a", 1)
    age(seconds=30)
    assert "<h1>cache is behind</h1>" in show(viewer)
    now = timezone.now()
    elsewhere = ForeignProjection.objects.create(
        source="bank", name="balances", state="running", read_at=now, lag=3, lag_bound="at_most"
    )
    assert "<h1>1 of 2 projections is behind, 1 more may be</h1>" in show(viewer)
    page = read_html(viewer.get("/"))
    assert "1 of 2 projections is behind, 1 more may be, and" in page
    assert "; 1 more may be</p>" in page
    Projection.objects.update(position=1, seen_count=1)
    assert "<h1>bank/balances may be behind</h1>" in show(viewer)
    forget_all()
    page = read_html(viewer.get("/"))
    assert "1 of 2 projections may be behind, and" in page
    assert '<p class="n">0 <small>of 2</small></p><p class="d">1 may be</p>' in page
    elsewhere.delete()
    assert "<h1>All projections are up to date</h1>" in show(viewer)
