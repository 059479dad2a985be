"""Tokens: made, shown once, listed, revoked."""

import html
import re
from hashlib import sha256
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from dashboard.models import AuditEntry
from sources.models import Token
from sources.tokens.operations import TokenError, create_token, revoke_token
from sources.tokens.secret import find_token

pytestmark = pytest.mark.django_db


def make(client: Client, source: str = "orders", note: str = "", key: str = "") -> str:
    fields = {"source": source, "note": note, "request_key": key or str(uuid4())}
    return client.post("/sources/tokens/create/", fields).content.decode()


def find_secret(page: str) -> str:
    found = re.search(r'<pre id="secret">(redrive_[\w-]{43})</pre>', page)
    return found[1] if found else ""


class TestCreate:
    def test_an_admin_makes_one_that_is_shown_once(self, admin: Client) -> None:
        secret = find_secret(make(admin, note="cluster a"))
        token = find_token(secret)
        assert token is not None
        assert (token.source, token.note, token.created_by) == ("orders", "cluster a", "some-admin")
        assert token.secret_hash == sha256(secret.encode()).hexdigest()
        page = admin.get("/sources/tokens/").content.decode()
        assert secret not in page
        assert f"{secret[:12]}…" in page
        assert "1 token may report failures" in page
        for table in (Token, AuditEntry):
            assert secret not in str(list(table.objects.values()))

    def test_it_rejects_get(self, admin: Client) -> None:
        assert admin.get("/sources/tokens/create/").status_code == 405

    def test_an_operator_may_not(self, operator: Client) -> None:
        assert operator.post("/sources/tokens/create/", {"source": "orders"}).status_code == 403
        assert operator.get("/sources/tokens/").status_code == 403

    def test_twice_is_once(self, admin: Client) -> None:
        key = str(uuid4())
        assert find_secret(make(admin, key=key))
        again = make(admin, key=key)
        assert not find_secret(again)
        assert "sent twice and made one token" in again
        assert Token.objects.count() == 1
        # What it shows is another form: whoever did not see the secret can make another with it.
        [another] = re.findall(r'name="request_key" value="([\w-]+)"', again)
        assert find_secret(make(admin, key=another))
        assert Token.objects.count() == 2

    def test_it_is_audited(self, admin: Client) -> None:
        make(admin, note="cluster a")
        entry = AuditEntry.objects.get(action="token.create")
        assert (entry.actor, entry.subject, entry.reason) == ("some-admin", "orders", "cluster a")
        assert entry.details == {"token": Token.objects.get().hint}

    @pytest.mark.parametrize("source", ["", "native", "with space", "é", "a" * 101, "-a", "a\n"])
    def test_a_bad_name_is_refused(self, admin: Client, source: str) -> None:
        fields = {"source": source, "request_key": str(uuid4())}
        response = admin.post("/sources/tokens/create/", fields)
        if source == "a\n":
            # The form trims it.
            assert response.status_code == 200
        else:
            assert response.status_code == 400
            assert response.context["form"].errors["source"]
            assert not Token.objects.exists()

    def test_a_source_that_is_read_cannot_be_pushed_to(self, admin: Client, settings: Any) -> None:
        settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": "postgresql://db/orders"}}
        assert "is read from its own tables" in make(admin)
        assert not Token.objects.exists()

    def test_the_form_must_have_its_number(self, admin: Client) -> None:
        answer = admin.post("/sources/tokens/create/", {"source": "orders"})
        assert answer.status_code == 400
        assert "The form was incomplete, and no token was made." in answer.content.decode()

    def test_what_is_too_long_is_told_how_long_it_may_be(self, admin: Client) -> None:
        assert "A source&#x27;s name can have at most 100 characters; this one has 101." in make(
            admin, "a" * 101
        )
        assert "It can have at most 200 characters; this one has 201." in make(admin, note="x" * 201)

    def test_the_command_prints_it_alone(self, capsys: pytest.CaptureFixture[str]) -> None:
        call_command("create_token", "orders", note="by script")
        secret = capsys.readouterr().out.removesuffix("\n")
        token = find_token(secret)
        assert token is not None
        assert (token.source, token.note, token.created_by) == ("orders", "by script", "command line")

    def test_the_command_refuses_what_the_page_refuses(self) -> None:
        with pytest.raises(CommandError, match="its own events"):
            call_command("create_token", "native")
        with pytest.raises(CommandError, match="200 characters"):
            call_command("create_token", "orders", note="x" * 201)
        with pytest.raises(TokenError, match="of a–z, A–Z, 0–9"):
            create_token("a\n", actor="tests")


class TestRevoke:
    @pytest.fixture
    def token(self) -> Token:
        return create_token("orders", actor="tests")[0]

    def revoke(self, client: Client, token: Token, reason: str = "leaked") -> int:
        return client.post(f"/sources/tokens/{token.pk}/revoke/", {"reason": reason}).status_code

    def test_it_is_refused_from_then_on(self, admin: Client) -> None:
        token, secret = create_token("orders", actor="tests")
        assert "cannot be undone" in admin.get(f"/sources/tokens/{token.pk}/revoke/confirm/").content.decode()
        assert find_token(secret) == token
        assert self.revoke(admin, token) == 302
        assert find_token(secret) is None
        page = admin.get("/sources/tokens/").content.decode()
        assert re.search(r"Revoked</span> <time[^>]*>just now</time> by some-admin", page)
        why = re.search(r'href="(/audit/[^"]*)">See why<', page)
        assert why
        assert "leaked" in admin.get(html.unescape(why[1])).content.decode()
        assert "Nobody may report failures any more" in page

    def test_it_rejects_get(self, admin: Client, token: Token) -> None:
        assert admin.get(f"/sources/tokens/{token.pk}/revoke/").status_code == 405

    def test_an_operator_may_not(self, operator: Client, token: Token) -> None:
        assert self.revoke(operator, token) == 403
        assert Token.objects.get().revoked_at is None

    def test_twice_is_once(self, admin: Client, token: Token) -> None:
        self.revoke(admin, token)
        first = Token.objects.get().revoked_at
        self.revoke(admin, token)
        assert Token.objects.get().revoked_at == first
        assert "is revoked already" in admin.get("/sources/tokens/").content.decode()

    def test_it_is_audited(self, admin: Client, token: Token) -> None:
        self.revoke(admin, token)
        entry = AuditEntry.objects.get(action="token.revoke")
        assert (entry.actor, entry.subject, entry.reason) == ("some-admin", "orders", "leaked")

    def test_it_needs_a_reason(self, admin: Client, token: Token) -> None:
        assert self.revoke(admin, token, reason=" ") == 400
        assert Token.objects.get().revoked_at is None


def test_the_sources_page_says_who_reports_and_when_last(viewer: Client, settings: Any) -> None:
    assert "No source yet" in viewer.get("/sources/").content.decode()
    create_token("orders", actor="tests")
    token, secret = create_token("payments", actor="tests")
    revoke_token(create_token("retired", actor="tests")[0], actor="tests", reason="gone")
    page = viewer.get("/sources/").content.decode()
    assert "2 sources may report by themselves" in page
    assert page.count(">never<") == 2
    assert "retired" not in page
    Token.objects.filter(pk=token.pk).update(used_at=timezone.now())
    page = viewer.get("/sources/").content.decode()
    assert page.count(">never<") == 1
    assert secret not in page
    assert token.hint not in page
    heading = "<h2>May report by themselves</h2>"
    assert heading not in page
    settings.SOURCES = {"billing": {"kind": "eventsource-py", "dsn": "postgresql://db/billing"}}
    page = viewer.get("/sources/").content.decode()
    assert "<h1>billing has not been looked at yet</h1>" in page
    assert heading in page
