"""Other libraries' breakers: one contract for all readers, with the real libraries."""

import re
from typing import Any

import pytest
import redis
from django.core.exceptions import ImproperlyConfigured
from django.test import Client
from django.utils import timezone

from breakers import live, tasks
from breakers.api import get_breaker
from breakers.foreign import registry, scan
from breakers.models import Breaker, Reading, State, Transition, Trip
from dashboard.models import AuditEntry
from tests.breakers.conftest import NEVER_CACHED
from tests.breakers.peers import BlacklistPeer, Peer
from tests.breakers.valkey import PrivateValkey

pytestmark = pytest.mark.django_db


def reset_fields(peer: Peer) -> dict[str, str]:
    return {"name": peer.name, "source": peer.source, "reason": "they say it is fixed"}


# The contract ---------------------------------------------------------------------------------------


def test_it_is_found_open_with_its_name(peer: Peer, viewer: Client):
    peer.open()
    tasks.read_foreign()
    row = Breaker.objects.get()
    assert (row.source, row.name, row.state) == (peer.source, peer.name, State.OPEN)
    assert row.left_closed_at is not None
    html = viewer.get("/breakers/").content.decode()
    assert "1 breaker is not closed" in html
    assert peer.name in html
    assert peer.source.partition("=")[0] in html


def test_its_page_shows_it(peer: Peer, viewer: Client):
    peer.open()
    tasks.read_foreign()
    html = viewer.get("/breakers/breaker/", {"name": peer.name, "source": peer.source}).content.decode()
    assert f"{peer.name} is open" in html
    assert "seen in Redis" in html


def test_a_reset_lets_its_calls_through_and_is_audited(peer: Peer, operator: Client):
    peer.open()
    assert not peer.goes_through()
    tasks.read_foreign()
    confirm = operator.get("/breakers/breaker/reset/confirm/", reset_fields(peer)).content.decode()
    assert registry.list_readers()[peer.source].reset_effect in confirm
    assert "failures are forgotten" not in confirm
    html = operator.post("/breakers/breaker/reset/", reset_fields(peer), follow=True).content.decode()
    assert "is closed. Calls to it go through." in html
    assert f"<h1>{peer.name} is closed</h1>" in html
    assert '<dd id="why-no-reset">It is closed.</dd>' in html
    assert peer.goes_through()
    entry = AuditEntry.objects.get(action="breaker.reset")
    assert entry.subject == f"{peer.source} {peer.name}"
    tasks.read_foreign()
    assert Breaker.objects.get().state == State.CLOSED


def test_a_second_reset_says_that_there_is_nothing_to_do(peer: Peer, operator: Client):
    peer.open()
    tasks.read_foreign()
    operator.post("/breakers/breaker/reset/", reset_fields(peer))
    html = operator.post("/breakers/breaker/reset/", reset_fields(peer), follow=True).content.decode()
    assert "is closed already. Nothing was changed." in html


def test_it_cannot_be_held_open_and_the_page_says_why(peer: Peer, operator: Client):
    peer.open()
    tasks.read_foreign()
    page = operator.get("/breakers/breaker/", {"name": peer.name, "source": peer.source}).content.decode()
    why = registry.list_readers()[peer.source].why_no_trip
    assert f"It cannot be held open: {why}" in page
    assert "Trip…" not in page
    fields = reset_fields(peer) | {"hold": ""}
    html = operator.post("/breakers/breaker/trip/", fields, follow=True).content.decode()
    assert f"{peer.name} cannot be held open: {why}" in html
    assert f"<h1>{peer.name} is open</h1>" in html


def test_one_of_ours_with_its_name_is_not_tripped_in_its_place(peer: Peer, operator: Client):
    with get_breaker(peer.name, NEVER_CACHED).call():
        pass
    peer.open()
    tasks.read_foreign()
    fields = reset_fields(peer) | {"hold": ""}
    confirm = operator.get("/breakers/breaker/trip/confirm/", fields, follow=True).content.decode()
    assert f"{peer.name} cannot be held open: " in confirm
    assert '<form class="confirm"' not in confirm
    operator.post("/breakers/breaker/trip/", fields)
    assert not Trip.objects.exists()
    assert live.read([peer.name])[peer.name].state == "closed"


def test_the_form_that_trips_one_of_ours_names_it_as_ours(peer: Peer, operator: Client):
    with get_breaker(peer.name, NEVER_CACHED).call():
        pass
    peer.open()
    tasks.read_foreign()
    confirm = operator.get("/breakers/breaker/trip/confirm/", {"name": peer.name}).content.decode()
    assert '<input type="hidden" name="source" value="redrive">' in confirm
    operator.post("/breakers/breaker/trip/", reset_fields(peer) | {"source": "redrive", "hold": ""})
    assert live.read([peer.name])[peer.name].is_held


def test_what_has_gone_is_closed(peer: Peer, foreign: redis.Redis):
    peer.open()
    tasks.read_foreign()
    foreign.flushall()
    tasks.read_foreign()
    assert Breaker.objects.get().state == State.CLOSED
    assert [t.to_state for t in Transition.objects.order_by("id")] == ["open", "closed"]


def test_opening_again_is_another_transition(peer: Peer):
    for _ in range(2):
        peer.open()
        tasks.read_foreign()
        tasks.read_foreign()
        registry.list_readers()[peer.source].reset(registry.get_foreign_redis(), peer.name)
        tasks.read_foreign()
    assert Transition.objects.filter(to_state="open").count() == 2


# The rest -------------------------------------------------------------------------------------------


def test_time_left_comes_from_the_key(foreign: redis.Redis, viewer: Client):
    BlacklistPeer(foreign).open()
    tasks.read_foreign()
    left = (Breaker.objects.get().retry_at - timezone.now()).total_seconds()
    assert 200 < left <= 300
    assert re.search("expires in [45] min", viewer.get("/breakers/").content.decode())


def test_keys_without_an_end_and_keys_of_others(foreign: redis.Redis, viewer: Client):
    foreign.set("webhook:blacklist:for-ever", "")
    foreign.set("x:pybreaker:state", "what?")
    foreign.set(b"webhook:blacklist:\xff\xfe", "")
    foreign.set("webhook:blacklist:nul\0", "")
    foreign.set("webhook:blacklist:" + "x" * 600, "")
    foreign.hset("y:aiobreaker:state", "not", "a string")
    foreign.set("pybreaker:state", "half-open")
    foreign.set("pybreaker:fail_counter", "many")
    tasks.read_foreign()
    found = {row.name: row for row in Breaker.objects.all()}
    assert set(found) == {"webhook:blacklist:for-ever", "(no namespace)"}
    assert found["webhook:blacklist:for-ever"].retry_at is None
    assert "until its key is deleted" in viewer.get("/breakers/").content.decode()
    assert (found["(no namespace)"].state, found["(no namespace)"].failure_count) == ("half_open", None)


def test_a_large_redis_is_read_in_slices(foreign: redis.Redis, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(scan, "SCAN_COUNT", 10)
    monkeypatch.setattr(scan, "CALLS_PER_SLICE", 3)
    foreign.mset({f"noise:{number}": "" for number in range(500)})
    BlacklistPeer(foreign).open()
    slices = 0
    while not slices or Reading.objects.exclude(cursor="0").exists():
        tasks.read_foreign()
        slices += 1
    assert slices > 3
    assert Breaker.objects.get().state == State.OPEN


def test_what_the_settings_no_longer_name_is_closed(foreign: redis.Redis, settings: Any):
    BlacklistPeer(foreign).open()
    tasks.read_foreign()
    settings.FOREIGN_BREAKERS = ["pybreaker"]
    registry.list_readers.cache_clear()
    tasks.read_foreign()
    assert Breaker.objects.get().state == State.CLOSED


def test_a_redis_that_refuses_to_be_written_says_so(foreign: redis.Redis, operator: Client):
    peer = BlacklistPeer(foreign)
    peer.open()
    tasks.read_foreign()
    foreign.execute_command("ACL", "SETUSER", "default", "-del")
    html = operator.post("/breakers/breaker/reset/", reset_fields(peer), follow=True).content.decode()
    assert "Its Redis refused: " in html
    assert "Nothing was changed." in html
    assert not peer.goes_through()


def test_a_reset_that_does_not_reach_its_redis_changed_nothing(
    peer: Peer, operator: Client, valkey: PrivateValkey
):
    peer.open()
    tasks.read_foreign()
    valkey.kill()
    html = operator.post("/breakers/breaker/reset/", reset_fields(peer), follow=True).content.decode()
    assert "No such file or directory). Nothing was changed." in html


def test_a_reset_that_is_not_answered_may_have_been_done(peer: Peer, operator: Client, valkey: PrivateValkey):
    peer.open()
    tasks.read_foreign()
    valkey.hang()
    html = operator.post("/breakers/breaker/reset/", reset_fields(peer), follow=True).content.decode()
    valkey.go_on()
    assert "Whether it was changed is unknown; this page will show it." in html
    assert "Nothing was changed" not in html
    assert AuditEntry.objects.get(action="breaker.reset").outcome == "failed"


@pytest.mark.parametrize("word", ["pybraker", "blacklist", "blacklist=", f"blacklist={'x' * 100}"])
def test_a_reader_that_makes_no_sense_stops_the_start(word: str):
    with pytest.raises(ImproperlyConfigured, match="REDRIVE_FOREIGN_BREAKERS"):
        registry.make_reader(word)
