from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from dashboard.access import throttle
from dashboard.access.views import MOST_REFUSALS_NOTED
from dashboard.models import AuditEntry, SignInAttempt

pytestmark = pytest.mark.django_db


@pytest.fixture
def vera(make_user: Callable[..., User]) -> User:
    return make_user("vera", "viewer", "a long password")


def sign_in(client: Client, password: str = "a long password", **fields: str) -> int:
    return client.post("/login/", {"username": "vera", "password": password, **fields}).status_code


def test_the_right_password_signs_in(client: Client, vera: User) -> None:
    assert sign_in(client) == 302
    assert client.get("/").status_code == 200
    assert AuditEntry.objects.get(action="session.start").actor == "vera"
    assert not SignInAttempt.objects.exists()


def test_a_wrong_password_does_not(client: Client, vera: User) -> None:
    assert sign_in(client, "wrong") == 401
    assert client.get("/").status_code == 302


def test_after_too_many_tries_even_the_right_password_is_refused(client: Client, vera: User) -> None:
    for _ in range(throttle.MOST_FROM_ONE_PLACE):
        assert sign_in(client, "wrong") == 401
    refused = client.post("/login/", {"username": "vera", "password": "wrong"})
    assert refused.status_code == 429
    assert b'value="vera"' in refused.content
    assert sign_in(client) == 429
    assert AuditEntry.objects.filter(action="session.refuse", actor="vera").exists()


def test_spaces_and_look_alikes_are_the_same_name(client: Client, vera: User) -> None:
    for name in ("vera", " vera", "vera  ", "VERA", "\uff56era"):
        client.post("/login/", {"username": name, "password": "wrong"})
    assert sign_in(client) == 429


def test_refused_tries_neither_prolong_the_wait_nor_fill_the_trail(client: Client, vera: User) -> None:
    for _ in range(throttle.MOST_FROM_ONE_PLACE + 10):
        sign_in(client, "wrong")
    assert SignInAttempt.objects.count() == throttle.MOST_FROM_ONE_PLACE
    assert AuditEntry.objects.get(action="session.refuse").outcome == "failed"


def test_a_list_of_names_does_not_fill_the_trail(client: Client, vera: User) -> None:
    SignInAttempt.objects.bulk_create(
        SignInAttempt(username=f"n{number}", address="127.0.0.1")
        for number in range(throttle.MOST_FROM_AN_ADDRESS)
    )
    for number in range(MOST_REFUSALS_NOTED + 10):
        answer = client.post("/login/", {"username": f"m{number}", "password": "wrong"})
        assert answer.status_code == 429
    assert AuditEntry.objects.filter(action="session.refuse").count() == MOST_REFUSALS_NOTED


def test_many_addresses_do_not_get_around_the_limit(client: Client, vera: User) -> None:
    for number in range(throttle.MOST_FOR_A_NAME):
        throttle.note_attempt("Vera", f"10.0.0.{number}")
    assert sign_in(client) == 429


def test_a_disabled_user_cannot_sign_in(client: Client, vera: User) -> None:
    User.objects.update(is_active=False)
    assert sign_in(client) == 401


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_the_login_leads_nowhere_else(client: Client, vera: User, elsewhere: str) -> None:
    fields = {"username": "vera", "password": "a long password", "next": elsewhere}
    assert client.post("/login/", fields)["Location"] == "/"


def test_signing_out_ends_the_session(client: Client, vera: User) -> None:
    sign_in(client)
    client.post("/logout/")
    assert client.get("/").status_code == 302
    assert AuditEntry.objects.filter(action="session.end", actor="vera").exists()
