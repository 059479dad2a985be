"""When stories are told by themselves: in the past as written here, in the present each in its rhythm."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models.functions import Now

from demo import stories
from demo.models import Shop, Story
from demo.pricing import get_shop
from demo.stories import ENDPOINT, LEDGER, PLOTS, PRODUCER, SALE, SLOW

PAST = timedelta(hours=3)
# After a fix this long is quiet; then the next release ships, with the next bug.
NEXT_RELEASE_AFTER = timedelta(hours=2)


class Scene(NamedTuple):
    """A story that began so many minutes before the present."""

    minutes_ago: float
    name: str
    subject: str = ""


RELEASE = "release"
SCRIPT = (
    Scene(160, PRODUCER),
    Scene(148, ENDPOINT, "elm"),
    Scene(121, SALE),
    Scene(97, PRODUCER),
    Scene(74, ENDPOINT, "birch"),
    Scene(52, RELEASE),
    Scene(41, PRODUCER),
    Scene(33, ENDPOINT, "acorn"),
    Scene(17, LEDGER),
    Scene(9, PRODUCER),
    Scene(3, SLOW),
    Scene(1.5, ENDPOINT, "cedar"),
)


def list_turning_points(present: datetime) -> list[datetime]:
    """When stories of the script begin and end."""
    begins = [(scene, present - timedelta(minutes=scene.minutes_ago)) for scene in SCRIPT]
    return [at for _, at in begins] + [at + PLOTS[s.name].lasts for s, at in begins if s.name != RELEASE]


def follow_script(present: datetime, at: datetime) -> None:
    """Tell what the script has for this moment of the past."""
    stories.end_over(at)
    for scene in SCRIPT:
        if present - timedelta(minutes=scene.minutes_ago) == at:
            if scene.name == RELEASE:
                release(get_shop().patch + 1, at)
            else:
                stories.begin(scene.name, at, subject=scene.subject)


def follow_rhythm(at: datetime, *, speed: int, seller: str) -> None:
    """End what is over, and begin what is due again."""
    stories.end_over(at)
    told = {story.name: story for story in Story.objects.all()}
    for name, plot in PLOTS.items():
        story = told.get(name)
        if story is None or (not story.is_on and story.began_at + plot.every / plot.scale(speed) <= at):
            stories.begin(name, at, subject=seller if name == ENDPOINT else "", speed=speed)
    shop = get_shop()
    if not shop.is_buggy and shop.released_at + NEXT_RELEASE_AFTER / speed <= at:
        release(shop.patch + 1, at)


def release(patch: int, at: datetime | None = None) -> None:
    """Put a version into production."""
    Shop.objects.filter(pk=1).update(patch=patch, released_at=at or Now())
    get_shop.forget()
