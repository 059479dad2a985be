from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from dashboard.login_links import create_link
from dashboard.models import LoginLink

pytestmark = pytest.mark.django_db


@pytest.fixture
def path(settings: Settings) -> str:
    settings.EMBEDDED = True
    return urlsplit(create_link("http://127.0.0.1:8000")).path


def test_a_link_signs_the_administrator_in_once(client: Client, path: str) -> None:
    assert b"Sign in as local-admin" in client.get(path).content
    assert client.get("/").status_code == 302
    assert client.post(path).status_code == 302
    assert client.get("/users/").status_code == 200
    assert Client().post(path).status_code == 410


def test_only_its_hash_is_kept(path: str) -> None:
    assert LoginLink.objects.get().token_hash not in path


def test_it_expires(client: Client, path: str) -> None:
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.post(path).status_code == 410


def test_it_works_only_from_this_machine(path: str) -> None:
    assert Client(REMOTE_ADDR="192.0.2.7").post(path).status_code == 404


def test_a_new_link_works_whatever_became_of_the_administrator(client: Client, path: str) -> None:
    User.objects.update(is_active=False)
    again = urlsplit(create_link("http://127.0.0.1:8000")).path
    assert client.post(again).status_code == 302


def test_there_are_no_links_where_the_database_is_not_embedded() -> None:
    with pytest.raises(CommandError, match="embedded"):
        call_command("login_link")
