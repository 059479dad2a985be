"""What is not read at the moment is unknown, wherever it is shown, and no page says two things of it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.test import Client
from django.utils import timezone

from breakers import tasks
from breakers.api import get_breaker
from breakers.foreign import registry
from breakers.models import Breaker, Reading
from breakers.needs import find_open
from dashboard.memo import forget_all
from dashboard.redis import get_redis
from tests.breakers.conftest import NEVER_CACHED, open_breaker
from tests.breakers.peers import AiobreakerPeer, BlacklistPeer, Peer, PybreakerPeer
from tests.breakers.valkey import PrivateValkey
from tests.markup import read_html

pytestmark = pytest.mark.django_db


def look(client: Client, path: str = "/breakers/", **query: str) -> str:
    forget_all()
    return read_html(client.get(path, query))


def show(client: Client, peer: Peer) -> str:
    return look(client, "/breakers/breaker/", name=peer.name, source=peer.source)


def grow_old() -> None:
    """As if nobody had read anything for a while."""
    Reading.objects.update(read_at=timezone.now() - timedelta(minutes=3))


def open_and_lose(peer: Peer, valkey: PrivateValkey) -> None:
    peer.open()
    tasks.read_foreign()
    valkey.kill()
    tasks.read_foreign()


def test_others_that_cannot_be_read_are_unknown_on_the_list(
    peer: Peer, valkey: PrivateValkey, viewer: Client
):
    open_and_lose(peer, valkey)
    html = look(viewer)
    assert "<h1>1 breaker was not closed when last read</h1>" in html
    assert '<span class="badge">Unknown</span> <span class="dim">was open</span>' in html
    assert "expires in" not in html
    # One reason is said once, however many libraries keep theirs there.
    assert html.count("cannot be read: ") == 1
    assert f"The breakers of aiobreaker, {BlacklistPeer.source} and pybreaker cannot be read: " in html
    assert "What is shown of them was read " in html
    assert "No such file or directory. The breaker was open when it was last read, " in show(viewer, peer)
    assert f"<h1>{peer.name} has been unknown since " in show(viewer, peer)
    assert "<dt>Expires</dt>" not in show(viewer, peer)
    valkey.start()
    tasks.read_foreign()
    assert "nknown" not in look(viewer)


def test_a_reset_of_what_is_unknown_promises_nothing(
    foreign: redis.Redis, valkey: PrivateValkey, operator: Client
):
    peer = AiobreakerPeer(foreign)
    open_and_lose(peer, valkey)
    query = {"name": peer.name, "source": peer.source}
    html = look(operator, "/breakers/breaker/reset/confirm/", **query)
    assert "How it is now is unknown. If its Redis answers, it is closed at once: every call goes" in html


def test_what_is_known_stands_before_what_is_not(peer: Peer, valkey: PrivateValkey, viewer: Client):
    open_and_lose(peer, valkey)
    open_breaker("orders-api")
    html = look(viewer)
    assert "<h1>1 breaker is not closed, others are unknown</h1>" in html
    assert "It is the only one that can be read." in html
    assert "<h2>Not closed when last read</h2>" in html
    overview = look(viewer, "/")
    assert "and 1 breaker is not closed, others are unknown." in overview
    assert '<p class="n">1</p><p class="d">others are unknown</p>' in overview


def test_many_that_are_known_are_not_made_unknown_by_one(
    foreign: redis.Redis, valkey: PrivateValkey, viewer: Client
):
    open_and_lose(AiobreakerPeer(foreign), valkey)
    for number in range(6):
        open_breaker(f"api-{number}")
    headline = "6 breakers are not closed, others are unknown"
    overview = look(viewer, "/")
    assert f"<strong>{headline}</strong>" in overview
    assert "and 4 more. 1 of them was not closed when last read; how it is now is unknown." in overview
    tasks.tend()
    assert [(need.headline, need.tone) for need in find_open()] == [(headline, "bad")]


def test_the_overview_says_unknown_of_others_everywhere(peer: Peer, valkey: PrivateValkey, viewer: Client):
    open_and_lose(peer, valkey)
    overview = look(viewer, "/")
    # Without the pattern that it was found by.
    label = peer.source.partition("=")[0]
    assert f"<strong>{label} {peer.name} was open</strong>" in overview
    assert f'{peer.name}</a> <span class="badge">{label}</span>' in overview
    assert f"{peer.name} is open" not in overview
    assert "and whether any breaker is open is unknown." in overview
    assert '<p class="n">unknown</p><p class="d">none can be read</p>' in overview
    assert '<span class="badge">Unknown</span> <span class="dim">was open</span>' in overview
    assert (
        f"The breakers of aiobreaker, {BlacklistPeer.source} and pybreaker have been unknown since "
        in overview
    )


def test_one_that_was_closed_is_unknown_too(foreign: redis.Redis, valkey: PrivateValkey, operator: Client):
    peer = PybreakerPeer(foreign)
    assert peer.goes_through()
    open_and_lose(peer, valkey)
    Breaker.objects.update(state="closed", left_closed_at=None)
    html = look(operator)
    assert "<h1>No breaker can be read</h1>" in html
    assert "<h2>As last read</h2>" in html
    assert ">Closed</span>" not in html
    assert "<h1>No match is known to be open</h1>" in look(operator, q=peer.name)
    html = show(operator, peer)
    assert "goes through" not in html
    assert '<dd id="why-no-reset">It was closed when it was last read.</dd>' in html
    assert "Whether any is open is unknown" in look(operator, "/")


def test_whoever_is_read_by_nobody_is_unknown(foreign: redis.Redis, viewer: Client):
    peer = AiobreakerPeer(foreign)
    peer.open()
    tasks.read_foreign()
    grow_old()
    html = look(viewer)
    assert "pybreaker are not read: that takes beat and a worker of housekeeping. What is shown" in html
    assert '<span class="badge">Unknown</span> <span class="dim">was open</span>' in html
    assert "Nobody reads it: that takes beat and a worker of housekeeping." in show(viewer, peer)


def test_whoever_the_settings_no_longer_name_is_unknown(
    foreign: redis.Redis, operator: Client, settings: Any
):
    peer = AiobreakerPeer(foreign)
    peer.open()
    tasks.read_foreign()
    settings.FOREIGN_BREAKERS = []
    registry.list_readers.cache_clear()
    grow_old()
    html = show(operator, peer)
    assert f"<h1>{peer.name} has been unknown since " in html
    assert "aiobreaker is no longer read here. The breaker was last read <time" in html
    assert '<dd id="why-no-reset">What is no longer read here is not written to either.</dd>' in html
    assert "cannot be read" not in look(operator)
    tasks.read_foreign()
    html = look(operator)
    assert "<h1>No breaker can be read</h1>" in html
    assert "<h2>As last read</h2>" in html
    # It has been noted as closed, and was not.
    assert '<span class="badge">Unknown</span> <span class="dim">no longer read</span>' in html
    html += show(operator, peer)
    assert "was closed" not in html
    assert ">Closed</span>" not in html


@pytest.fixture
def _shared_and_cut(settings: Any, foreign: redis.Redis) -> Iterator[None]:
    """Others keep their breakers in the console's own Redis, one of which is open when the line to it is cut."""
    peer = PybreakerPeer(foreign)
    peer.open()
    tasks.read_foreign()
    address = settings.REDIS_URL
    settings.REDIS_URL = settings.FOREIGN_BREAKERS_URL = "unix:///nowhere/at/all"
    get_redis.cache_clear()
    yield
    settings.REDIS_URL = address
    get_redis.cache_clear()


@pytest.mark.usefixtures("_shared_and_cut")
def test_others_in_our_own_redis_are_unknown_as_soon_as_ours_are(viewer: Client, foreign: redis.Redis):
    html = look(viewer)
    assert "<h1>Breakers are unknown</h1>" in html
    assert '<span class="badge">Unknown</span> <span class="dim">was open</span>' in html
    # The headline has said it.
    assert "cannot be read" not in html
    assert "Its Redis cannot be read: " in show(viewer, PybreakerPeer(foreign))
    overview = look(viewer, "/")
    assert "<strong>pybreaker payments was open</strong>" in overview
    assert "<strong>Redis does not answer</strong>" in overview


def test_what_postgres_has_not_heard_is_not_said_on_a_page_that_asks_redis(viewer: Client):
    """As when no worker copies: the breaker has closed, and then opened again, since it was last read."""
    breaker = open_breaker()
    tasks.tend()
    get_redis().flushdb()
    grow_old()
    assert [need.headline for need in find_open()] == ["orders-api was open"]
    overview = look(viewer, "/")
    assert "orders-api was open" not in overview
    assert "and no breaker is open." in overview
    open_breaker(breaker.name)
    Breaker.objects.update(state="closed", left_closed_at=None)
    overview = look(viewer, "/")
    assert "<strong>orders-api is open</strong>" in overview
    assert "and 1 breaker is not closed." in overview


def test_one_that_redis_has_forgotten_is_closed_and_not_the_first(viewer: Client):
    with get_breaker("orders-api", NEVER_CACHED).call():
        pass
    tasks.tend()
    get_redis().flushdb()
    assert "<h1>The only breaker is closed</h1>" in look(viewer)
    assert "<strong>All are closed</strong>" in look(viewer, "/")
