import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import CommandError, call_command
from django.test import Client

from dashboard.access import may, roles
from dashboard.actions import list_actions
from dashboard.models import AuditEntry

pytestmark = pytest.mark.django_db


def test_a_role_may_do_what_its_actions_say(make_user: Callable[..., User]) -> None:
    for role in ("viewer", "operator", "admin"):
        user = make_user(role=role)
        assert {a.name for a in list_actions() if may(user, a.name)} == {
            a.name for a in list_actions() if role in a.roles
        }


def test_what_was_taken_from_a_role_stays_taken(make_user: Callable[..., User]) -> None:
    permission = Permission.objects.get(codename="run.cancel")
    Group.objects.get(name="operator").permissions.remove(permission)
    roles.sync_roles()
    assert not may(make_user(role="operator"), "run.cancel")


def test_an_admin_gives_another_role(admin: Client, make_user: Callable[..., User]) -> None:
    vera = make_user("vera", "viewer")
    fields = {"role": "operator", "reason": "joins the rota"}
    for _ in range(2):
        response = admin.post(f"/users/{vera.pk}/role/", fields, follow=True)
    assert roles.get_role(vera) == "operator"
    assert b"vera has the role operator already" in response.content
    entry = AuditEntry.objects.get(action="user.assign_role", outcome="succeeded")
    assert (entry.subject, entry.actor, entry.reason) == ("vera", "some-admin", "joins the rota")
    assert entry.details == {"from": "viewer", "to": "operator"}


def test_changing_a_role_says_what_follows_and_asks_why(
    admin: Client, make_user: Callable[..., User]
) -> None:
    vera = make_user("vera", "viewer")
    users = admin.get("/users/").content.decode()
    assert f"/users/{vera.pk}/role/confirm/" in users
    assert re.search(r'"Last signed in"[^>]*>never</td>', users)
    page = admin.get(f"/users/{vera.pk}/role/confirm/").content.decode()
    assert "vera has the role viewer now." in page
    assert '<option value="viewer" selected>' in page
    refused = admin.post(f"/users/{vera.pk}/role/", {"role": "operator", "reason": "x" * 501})
    assert refused.status_code == 400
    assert b"A reason can have at most 500 characters; this one has 501." in refused.content
    assert roles.get_role(vera) == "viewer"
    assert not AuditEntry.objects.filter(action="user.assign_role").exists()


def test_who_has_no_role_is_given_one(admin: Client) -> None:
    nora = User.objects.create_user("nora")
    assert "no role" in admin.get("/users/").content.decode()
    assert "nora has no role now." in admin.get(f"/users/{nora.pk}/role/confirm/").content.decode()
    refused = admin.post(f"/users/{nora.pk}/role/", {"role": "", "reason": "new here"})
    assert (refused.status_code, b"Choose one." in refused.content) == (400, True)
    # There it goes on, not at the reason, which is written.
    assert re.findall(r'<(\w+) name="(\w+)"[^>]* autofocus[ >]', refused.content.decode()) == [
        ("select", "role")
    ]
    admin.post(f"/users/{nora.pk}/role/", {"role": "viewer", "reason": "new here"})
    assert roles.get_role(User.objects.get(pk=nora.pk)) == "viewer"


@pytest.mark.parametrize("role", ["viewer", "admin"])
def test_a_superuser_who_is_given_a_role_has_only_that_role(admin: Client, role: str) -> None:
    root = User.objects.create_superuser("root")
    admin.post(f"/users/{root.pk}/role/", {"role": role, "reason": "too much"})
    root = User.objects.get(pk=root.pk)
    assert (root.is_superuser, roles.get_role(root)) == (False, role)


def test_a_role_that_does_not_exist_is_refused(admin: Client, make_user: Callable[..., User]) -> None:
    vera = make_user("vera", "viewer")
    response = admin.post(f"/users/{vera.pk}/role/", {"role": "king", "reason": "joke"})
    assert response.status_code == 400
    assert b"viewer, operator, admin" in response.content


def test_a_disabled_user_is_signed_out_at_once(admin: Client, operator: Client) -> None:
    someone = User.objects.get(username="some-operator")
    admin.post(f"/users/{someone.pk}/disable/", {"reason": "left the company"})
    assert operator.get("/").status_code == 302
    admin.post(f"/users/{someone.pk}/enable/", {"reason": "is back"})
    assert User.objects.get(pk=someone.pk).is_active


def test_disabling_says_what_follows_and_asks_why(admin: Client, make_user: Callable[..., User]) -> None:
    olga = make_user("olga", "operator")
    assert f"/users/{olga.pk}/disable/confirm/" in admin.get("/users/").content.decode()
    page = admin.get(f"/users/{olga.pk}/disable/confirm/").content.decode()
    assert "olga, who has the role operator, is signed out at once" in page
    refused = admin.post(f"/users/{olga.pk}/disable/", {"reason": " "})
    assert (refused.status_code, b"Say why" in refused.content) == (400, True)
    assert User.objects.get(pk=olga.pk).is_active
    assert not AuditEntry.objects.filter(action="user.disable").exists()


def test_disabling_is_on_record_with_its_reason_and_twice_is_once(
    admin: Client, make_user: Callable[..., User]
) -> None:
    olga = make_user("olga", "operator")
    for _ in range(2):
        response = admin.post(f"/users/{olga.pk}/disable/", {"reason": "left the company"}, follow=True)
    assert b"olga is disabled already" in response.content
    entry = AuditEntry.objects.get(action="user.disable", outcome="succeeded")
    assert (entry.subject, entry.actor, entry.reason) == ("olga", "some-admin", "left the company")


def test_who_has_no_role_can_be_disabled_and_enabled(admin: Client) -> None:
    nora = User.objects.create_user("nora")
    page = admin.get(f"/users/{nora.pk}/disable/confirm/").content.decode()
    assert "nora is signed out at once" in page
    User.objects.filter(pk=nora.pk).update(is_active=False)
    page = admin.get(f"/users/{nora.pk}/enable/confirm/").content.decode()
    assert "has no role: nothing can be done until one is given." in page


def test_enabling_says_what_follows_and_asks_why(admin: Client, make_user: Callable[..., User]) -> None:
    olga = make_user("olga", "operator", "a long password")
    User.objects.filter(pk=olga.pk).update(is_active=False)
    assert f"/users/{olga.pk}/enable/confirm/" in admin.get("/users/").content.decode()
    page = admin.get(f"/users/{olga.pk}/enable/confirm/").content.decode()
    assert "olga can sign in again with the password as it was, and has the role operator." in page
    refused = admin.post(f"/users/{olga.pk}/enable/", {"reason": ""})
    assert (refused.status_code, b"Say why" in refused.content) == (400, True)
    assert not User.objects.get(pk=olga.pk).is_active
    assert not AuditEntry.objects.filter(action="user.enable").exists()


def test_enabling_is_on_record_with_its_reason_and_twice_is_once(
    admin: Client, make_user: Callable[..., User]
) -> None:
    olga = make_user("olga", "operator")
    User.objects.filter(pk=olga.pk).update(is_active=False)
    for _ in range(2):
        response = admin.post(f"/users/{olga.pk}/enable/", {"reason": "is back"}, follow=True)
    assert b"olga may sign in already" in response.content
    entry = AuditEntry.objects.get(action="user.enable", outcome="succeeded")
    assert (entry.subject, entry.actor, entry.reason) == ("olga", "some-admin", "is back")


def test_nobody_disables_themselves(admin: Client, make_user: Callable[..., User]) -> None:
    me, other = User.objects.get(username="some-admin"), make_user("ada", "admin")
    page = admin.get("/users/").content.decode()
    assert f"/users/{other.pk}/disable/" in page
    assert f"/users/{me.pk}/disable/" not in page
    response = admin.post(f"/users/{me.pk}/disable/", {"reason": "tired"}, follow=True)
    assert b"another admin can" in response.content
    assert User.objects.get(pk=me.pk).is_active


@pytest.mark.parametrize("change", ["disable/", "role/"])
def test_the_last_administrator_stays(admin: Client, change: str) -> None:
    me = User.objects.get(username="some-admin")
    response = admin.post(f"/users/{me.pk}/{change}", {"role": "viewer", "reason": "tired"}, follow=True)
    assert b"only admin" in response.content
    assert roles.list_admins() == [me]
    assert AuditEntry.objects.filter(outcome="failed").exists()


def test_the_command_creates_a_user(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    from io import StringIO

    monkeypatch.setattr("sys.stdin", StringIO("a long password\n"))
    call_command("create_user", "olga", role="operator")
    assert roles.get_role(User.objects.get(username="olga")) == "operator"
    assert Client().login(username="olga", password="a long password")


@pytest.mark.parametrize(("name", "password"), [("olga", "short"), ("bad name", "a long password")])
def test_the_command_says_what_is_wrong(monkeypatch: pytest.MonkeyPatch, name: str, password: str) -> None:
    from io import StringIO

    monkeypatch.setattr("sys.stdin", StringIO(f"{password}\n"))
    with pytest.raises(CommandError):
        call_command("create_user", name)
    assert not User.objects.exists()
