"""The sources' pages, the command, and what letters' pages say of their source."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from dashboard.attention import list_attention
from dashboard.models import AuditEntry, Run
from dashboard.runs import states
from dlq.models import DeadLetter
from sources.models import SourceState
from sources.sync import importing
from sources.sync.hold import claim
from sources.tokens.operations import create_token, revoke_token
from tests.markup import read_html
from tests.sources.foreign import Foreign
from tests.sources.keepers import EventsourcePy

pytestmark = pytest.mark.django_db
Sync = Callable[..., SourceState]


def read(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return read_html(answer)


def test_without_a_source_the_page_says_how_to_connect_one(viewer: Client, settings: Any) -> None:
    settings.SOURCES = {}
    page = read(viewer, "/sources/")
    assert "No system is connected" in page
    assert "redrive.toml" in page


def test_a_source_shows_health_letters_and_what_cannot_be_done(
    foreign: Foreign, sync: Sync, viewer: Client
) -> None:
    page = read(viewer, "/sources/orders/")
    assert "orders has not been looked at yet" in page
    assert "<dt>Last look</dt><dd>none yet</dd>" in page
    foreign.add(2)
    sync()
    page = read(viewer, "/sources/orders/")
    assert "orders is up to date" in page
    assert "The role" in page
    assert "dead_letter_queue: 13 columns" in page
    assert "orders is up to date" in read(viewer, "/sources/")
    assert viewer.get("/sources/other/").status_code == 404


def test_a_source_that_a_worker_looks_at_for_the_first_time_says_so(foreign: Foreign, viewer: Client) -> None:
    held = claim("orders", kind="eventsource-py", takes_writes=True)
    assert held is not None
    page = read(viewer, "/sources/orders/")
    assert "orders is looked at for the first time" in page
    assert "no worker takes from" not in page
    assert not [need for need in list_attention() if need.headline.startswith("orders ")]


def test_a_letter_says_how_its_row_stands(foreign: Foreign, sync: Sync, viewer: Client) -> None:
    [key] = foreign.add()
    sync()
    letter = DeadLetter.objects.get()
    page = read(viewer, f"/dead-letters/letters/{letter.pk}/")
    assert f"Row {key} says failed." in page
    assert "No replay. Nobody has said where letters of OrderSummary are replayed to" in page
    DeadLetter.objects.update(status="resolved")
    assert "is not written there yet" in read(viewer, f"/dead-letters/letters/{letter.pk}/")


def test_an_import_that_ended_early_is_named_and_begins_again(
    foreign: Foreign, sync: Sync, operator: Client, viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "IMPORT_ABOVE", 2)
    foreign.add(5)
    sync()
    assert "is being imported" in read(viewer, "/sources/orders/")
    run = Run.objects.get()
    states.move(run.pk, Run.State.CANCELLING)
    states.settle(run.pk)
    assert "orders is not complete" in read(operator, "/")
    assert "Import what is missing" not in read(viewer, "/sources/orders/")
    assert viewer.post("/sources/orders/import/").status_code == 403
    assert operator.get("/sources/orders/import/").status_code == 405
    operator.post("/sources/orders/import/")
    assert AuditEntry.objects.filter(action="source.import", outcome="succeeded").count() == 2
    sync()
    assert Run.objects.count() == 2
    operator.post("/sources/orders/import/")
    assert Run.objects.count() == 2
    assert AuditEntry.objects.filter(action="source.import", outcome="failed").count() == 1


def check(*arguments: str) -> str:
    out = StringIO()
    call_command("sources", "check", *arguments, stdout=out)
    return out.getvalue()


def test_check_says_what_was_recognised_and_what_the_role_may_do(
    make_foreign: Callable[..., Foreign], settings: Any
) -> None:
    make_foreign("eventsource-py", "orders")
    make_foreign("sql", "billing")
    said = check()
    assert "orders (eventsource-py)" in said
    assert "dead_letter_queue: 13 columns, all that are needed are there." in said
    assert "Resolve, discard and restore are written back: yes." in said
    assert "billing (sql)" in said
    assert "orders" not in check("billing")
    with pytest.raises(CommandError, match="names no source nobody"):
        check("nobody")


def test_check_warns_of_a_key_that_rows_may_share(
    make_foreign: Callable[..., Foreign], settings: Any
) -> None:
    make_foreign("sql", "billing")
    assert "unique" not in check()
    settings.SOURCES["billing"]["key"] = settings.SOURCES["billing"]["consumer"]
    assert "has no unique index of its own: rows that share one are taken for one." in check()


def test_a_source_that_also_has_tokens_is_refused_until_they_are_revoked(
    foreign: Foreign, sync: Sync, viewer: Client, admin: Client, settings: Any
) -> None:
    """A letter has one owner."""
    configured, settings.SOURCES = settings.SOURCES, {}
    token, _ = create_token("orders", actor="alice")
    settings.SOURCES = configured
    sentence = "orders has a token to report its failures by itself, under the same name; revoke it"
    out = StringIO()
    with pytest.raises(CommandError, match="Nothing can be read from orders"):
        call_command("sources", "check", stdout=out)
    assert sentence in out.getvalue()
    foreign.add()
    sync()
    assert sentence in read(viewer, "/sources/orders/")
    assert "See its tokens" not in read(viewer, "/sources/orders/")
    assert 'href="/sources/tokens/">See its tokens</a>' in read(admin, "/sources/orders/")
    assert not DeadLetter.objects.exists()
    revoke_token(token, actor="alice", reason="it is read now")
    assert sync().error == ""
    assert DeadLetter.objects.count() == 1
    assert "See its tokens" not in read(admin, "/sources/orders/")
    assert "orders (eventsource-py)" in check()


def test_check_says_in_one_sentence_what_is_wrong(
    make_foreign: Callable[..., Foreign], settings: Any
) -> None:
    foreign = make_foreign("sql", "billing")
    settings.SOURCES["billing"]["failed_at"] = "failed_on"
    with pytest.raises(CommandError, match="Nothing can be read from billing"):
        check()
    settings.SOURCES = {"gone": foreign.configuration | {"dsn": "postgresql://127.0.0.1:1/x"}}
    out = StringIO()
    with pytest.raises(CommandError):
        call_command("sources", "check", stdout=out)
    assert out.getvalue().startswith("gone (sql): It cannot be reached: ")


def test_check_calls_wrong_what_the_looks_refuse(bank: EventsourcePy, sync: Callable[[str], Any]) -> None:
    """Its checkpoints could be read; but it is its letters that it is looked at for."""
    bank.execute("ALTER TABLE dead_letter_queue RENAME error_stacktrace TO trace")
    with pytest.raises(CommandError, match="Nothing can be read from bank"):
        check()
    assert "dead_letter_queue has no column error_stacktrace" in sync("bank").error
