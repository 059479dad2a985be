"""The audit page stands for every list: pages follow each other without a gap, both ways."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.models import AuditEntry
from dashboard.paging import write_cursor

pytestmark = pytest.mark.django_db


@pytest.fixture
def entries() -> list[int]:
    """120 entries, many at the same instant, newest first."""
    AuditEntry.objects.bulk_create(
        AuditEntry(actor="olga", action="run.pause", outcome="succeeded", subject=f"run {n}")
        for n in range(120)
    )
    return list(AuditEntry.objects.filter(actor="olga").order_by("-at", "-id").values_list("pk", flat=True))


def walk(client: Client, rel: str, url: str) -> list[list[int]]:
    pages = []
    while url:
        response = client.get(url)
        pages.append([row.pk for row in response.context["page"].rows])
        link = re.search(rf'rel="{rel}" href="([^"]+)"', response.content.decode())
        url = "/audit/" + link[1].replace("&amp;", "&") if link else ""
    return pages


def test_older_pages_follow_without_gap_or_repetition(viewer: Client, entries: list[int]) -> None:
    pages = walk(viewer, "next", "/audit/?actor=olga")
    assert [pk for page in pages for pk in page] == entries
    assert [len(page) for page in pages] == [50, 50, 20]


def test_and_back_again(viewer: Client, entries: list[int]) -> None:
    last = viewer.get("/audit/?actor=olga")
    for _ in range(2):
        last = viewer.get(f"/audit/?actor=olga&after={last.context['page'].after.replace('+', '%2B')}")
    back = walk(
        viewer, "prev", f"/audit/?actor=olga&before={last.context['page'].before.replace('+', '%2B')}"
    )
    assert back == [entries[50:100], entries[:50]]


def test_a_list_stays_put_and_says_how_many_are_new(viewer: Client, entries: list[int]) -> None:
    first = viewer.get("/audit/?actor=olga")
    AuditEntry.objects.create(actor="olga", action="run.pause", outcome="succeeded", at=timezone.now())
    live = viewer.get(first.context["live_url"], headers={"HX-Request": "true"})
    assert [row.pk for row in live.context["page"].rows] == entries[:50]
    assert b"1 new, show it" in live.content


def test_a_page_behind_the_last_does_not_say_that_there_is_nothing(
    viewer: Client, entries: list[int]
) -> None:
    last = AuditEntry.objects.get(pk=entries[-1])
    beyond = viewer.get("/audit/", {"actor": "olga", "after": write_cursor(last, "at")}).content.decode()
    assert "No entry is on this page" in beyond
    assert '<a href="?actor=olga">Go to the first page</a>' in beyond
    assert "No entry matches" in viewer.get("/audit/?actor=nobody").content.decode()


def test_a_live_list_offers_to_clear_only_what_somebody_chose(viewer: Client, entries: list[int]) -> None:
    for url, is_offered in (("/audit/", False), ("/audit/?actor=olga", True)):
        live = viewer.get(viewer.get(url).context["live_url"], headers={"HX-Request": "true"})
        assert (b"Clear</a>" in live.content) == is_offered
