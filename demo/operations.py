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
        shop = lock_shop()
        if not shop.is_buggy:
            raise ShopError(f"Version {shop.version} has no known bug; there is nothing to fix.")
        return deploy_next(shop, entry)


def ship_bug(*, actor: audit.Actor, reason: str = "") -> Shop:
    """Put the next release into production, which sells in a currency that its rate table has not."""
    with audit.action("shop.deploy", actor=actor, reason=reason) as entry:
        shop = lock_shop()
        if shop.is_buggy:
            raise ShopError(f"Version {shop.version} has its bug already.")
        return deploy_next(shop, entry)


def lock_shop() -> Shop:
    Shop.objects.get_or_create(pk=1)
    return Shop.objects.select_for_update().get(pk=1)


def deploy_next(shop: Shop, entry: audit.Entry) -> Shop:
    entry.details = {"from": shop.version}
    timetable.release(shop.patch + 1)
    shop.refresh_from_db()
    entry.subject = f"version {shop.version}"
    return shop


def begin_story(name: str, *, actor: audit.Actor, reason: str = "") -> Story:
    """Let something go wrong now; one that is going on begins anew."""
    with audit.action("shop.break", actor=actor, subject=PLOTS[name].title, reason=reason) as entry:
        subject = choose_subject(name)
        story = stories.begin(name, timezone.now(), subject=subject, speed=settings.DEMO_SPEED)
        entry.details = {"story": name, **({"subject": subject} if subject else {})}
    return story


def choose_subject(name: str) -> str:
    """Whom it hits: the next after the one whom it hit last, or that one while it lasts."""
    if name != stories.ENDPOINT:
        return ""
    last = Story.objects.filter(name=name).first()
    if last is None:
        return SELLERS[0]
    return last.subject if last.is_on else SELLERS[(SELLERS.index(last.subject) + 1) % len(SELLERS)]
