"""The shop's own page: what it says, deploying the fix, and breaking something."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.memo import forget_all
from dashboard.models import AuditEntry
from demo import stories
from demo.models import Shop, Story
from demo.pricing import get_shop, to_euro
from demo.sales import Sales
from projections.models import Projection

pytestmark = pytest.mark.django_db


@pytest.fixture
def buggy() -> Shop:
    shop, _ = Shop.objects.update_or_create(pk=1, defaults={"patch": 2})
    get_shop.forget()
    return shop


def test_the_page_says_what_is_wrong_and_offers_the_fix(buggy: Shop, operator: Client) -> None:
    page = operator.get("/demo/").content.decode()
    assert "The demo shop runs version 1.7.2, which has a bug" in page
    assert "It began to sell in CHF" in page
    assert "Deploy the fix" in page
    assert "Kill an endpoint" in page


def test_a_consumer_that_has_not_begun_is_named_without_a_link(buggy: Shop, viewer: Client) -> None:
    Projection.objects.filter(name="ledger").delete()
    page = viewer.get("/demo/").content.decode()
    assert "<dt>ledger</dt>" in page
    assert ">order-summary</a></dt>" in page


def test_a_viewer_sees_it_without_buttons(buggy: Shop, viewer: Client) -> None:
    page = viewer.get("/demo/").content.decode()
    assert "which has a bug" in page
    assert "Deploy the fix" not in page
    assert "Kill an endpoint" not in page
    assert "What happens by itself every now and then</h2>" in page
    assert viewer.post("/demo/deploy-fix/").status_code == 403
    assert viewer.post("/demo/stories/endpoint/begin/").status_code == 403


def test_the_fix_brings_the_missing_rate_and_is_on_record(buggy: Shop, operator: Client) -> None:
    with pytest.raises(KeyError):
        to_euro(100, "CHF")
    assert operator.post("/demo/deploy-fix/").status_code == 302
    assert to_euro(100, "CHF") == 104
    entry = AuditEntry.objects.get(action="shop.deploy")
    assert (entry.subject, entry.details, entry.outcome) == ("version 1.7.3", {"from": "1.7.2"}, "succeeded")
    assert "runs version 1.7.3" in operator.get("/demo/").content.decode()


def test_deploying_twice_is_once(buggy: Shop, operator: Client) -> None:
    operator.post("/demo/deploy-fix/")
    page = operator.post("/demo/deploy-fix/", follow=True).content.decode()
    assert "Version 1.7.3 has no known bug; there is nothing to fix." in page
    assert Shop.objects.get().patch == 3


def test_the_next_bug_is_another_currency_and_the_old_one_stays_mended(buggy: Shop, operator: Client) -> None:
    operator.post("/demo/deploy-fix/")
    operator.post("/demo/ship-bug/")
    assert to_euro(100, "CHF") == 104
    with pytest.raises(KeyError):
        to_euro(100, "SEK")


def test_bugs_come_round_again_for_ever(buggy: Shop, operator: Client) -> None:
    Shop.objects.update(patch=13)
    get_shop.forget()
    assert to_euro(100, "CHF") == 104
    assert to_euro(100, "CZK") == 4
    operator.post("/demo/ship-bug/")
    assert "It began to sell in CHF" in operator.get("/demo/").content.decode()
    with pytest.raises(KeyError):
        to_euro(100, "CHF")
    assert to_euro(100, "CZK") == 4
    operator.post("/demo/deploy-fix/")
    assert to_euro(100, "CHF") == 104


def test_a_story_begins_by_hand_and_is_on_record(operator: Client) -> None:
    page = operator.post("/demo/stories/endpoint/begin/", follow=True).content.decode()
    assert "It has begun: a seller&#x27;s endpoint dies for five minutes (acorn)." in page
    story = Story.objects.get(name="endpoint")
    assert story.is_on
    assert story.subject == "acorn"
    entry = AuditEntry.objects.get(action="shop.break")
    assert entry.details == {"story": "endpoint", "subject": "acorn"}
    assert "now: acorn" in operator.get("/demo/").content.decode()


def test_a_story_about_nobody_in_particular_is_on_and_then_over(operator: Client) -> None:
    operator.post("/demo/stories/sale/begin/")
    assert '<span class="badge warn">now</span>' in operator.get("/demo/").content.decode()
    stories.end_over(timezone.now() + timedelta(minutes=3))
    page = operator.get("/demo/").content.decode()
    assert '<span class="badge warn">now' not in page
    assert '<strong>A sale</strong> <span class="dim"><time' in page


def test_a_past_that_is_being_made_says_how_far_it_has_come(buggy: Shop, viewer: Client) -> None:
    Shop.objects.update(past_at=timezone.now() - timedelta(days=400))
    page = viewer.get("/demo/").content.decode()
    assert 'Its past is being made, and has come to <span class="nowrap">20' in page


def test_every_page_says_that_the_past_is_being_made_and_not_a_moment_longer(
    buggy: Shop, viewer: Client
) -> None:
    assert "The shop is living through its first hours" in viewer.get("/").content.decode()
    Shop.objects.update(is_past_made=True)
    forget_all()
    assert "The shop is living through its first hours" not in viewer.get("/").content.decode()


def test_there_is_no_story_that_nobody_wrote(operator: Client) -> None:
    assert operator.post("/demo/stories/flood/begin/").status_code == 404
    assert not Story.objects.exists()


def test_the_same_seed_plans_the_same_orders() -> None:
    now = timezone.now()

    def plan() -> list[tuple[str, object]]:
        return [(due.event.type, due.event.data) for due in Sales(5).order(7, now, patch=2)]

    assert plan() == plan()
