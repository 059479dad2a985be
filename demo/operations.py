"""What people do with the shop."""

from django.conf import settings
from django.utils import timezone

from dashboard import audit
from demo import stories, timetable
from demo.models import Shop, Story
from demo.stories import PLOTS, SELLERS


class ShopError(Exception):
    """It was not done; the sentence says why."""


def deploy_fix(*, actor: audit.Actor, reason: str = "") -> Shop:
    """Put the version into production that knows the missing rate; twice is once."""
    with audit.action("shop.deploy", actor=actor, reason=reason) as entry:
        shop = Shop.objects.select_for_update().get(pk=1)
        if not shop.is_buggy:
            raise ShopError(f"Version {shop.version} has no known bug; there is nothing to fix.")
        timetable.release(shop.patch + 1)
        entry.subject = f"version 1.7.{shop.patch + 1}"
        entry.details = {"from": shop.version}
    return Shop.objects.get(pk=1)


def ship_bug(*, actor: audit.Actor, reason: str = "") -> Shop:
    """Put the next release into production, which sells in a currency that its rate table has not."""
    with audit.action("shop.deploy", actor=actor, reason=reason) as entry:
        shop = Shop.objects.select_for_update().get(pk=1)
        if shop.is_buggy:
            raise ShopError(f"Version {shop.version} has its bug already.")
        if shop.patch >= timetable.LAST_PATCH:
            raise ShopError("There is no further currency to begin selling in.")
        timetable.release(shop.patch + 1)
        entry.subject = f"version 1.7.{shop.patch + 1}"
        entry.details = {"from": shop.version}
    return Shop.objects.get(pk=1)


def begin_story(name: str, *, actor: audit.Actor, reason: str = "") -> Story:
    """Let something go wrong now; one that is going on begins anew."""
    with audit.action("shop.break", actor=actor, subject=PLOTS[name].title, reason=reason) as entry:
        subject = choose_subject(name)
        story = stories.begin(name, timezone.now(), subject=subject, speed=settings.DEMO_SPEED)
        entry.details = {"story": name, **({"subject": subject} if subject else {})}
    return story


def choose_subject(name: str) -> str:
    """Whom it hits: not the one whom it hit last."""
    if name != stories.ENDPOINT:
        return ""
    last = Story.objects.filter(name=name).first()
    if last and last.is_on:
        return last.subject
    return SELLERS[(SELLERS.index(last.subject) + 1) % len(SELLERS)] if last and last.subject else SELLERS[0]
