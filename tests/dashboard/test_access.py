"""Who gets where, for every address that the console has."""

import pytest
from django.test import Client

from tests.addresses import list_addresses

# Whoever is not signed in may see these, and nothing else.
OPEN = {"login", "login_link", "logout", "healthz", "readyz", "favicon", "failures", "confirm_delivery"}
# These answer POST to anybody: signing in and out, and programs, whose token is asked for (tests/sources/push).
FOR_ALL = {"login", "login_link", "logout", "failures"}
# These change only what the visitor's own pages show.
OWN = {"dismiss_panel"}
ADDRESSES = list_addresses()
CLOSED = [pytest.param(path, id=name) for path, name in ADDRESSES if name not in OPEN]
CHANGING = [pytest.param(path, id=name) for path, name in ADDRESSES if name not in FOR_ALL | OWN]
CHECKED = [pytest.param(path, id=name) for path, name in ADDRESSES if name not in FOR_ALL]


def test_the_list_is_not_empty() -> None:
    assert len(ADDRESSES) > 15
    assert not [path for path, _ in ADDRESSES if "<" in path]


@pytest.mark.django_db
@pytest.mark.parametrize("path", CLOSED)
def test_without_a_session_it_leads_to_the_login(client: Client, path: str) -> None:
    for method in (client.get, client.post):
        response = method(path)
        # A verb refuses GET, and a page refuses POST, before it asks who is there.
        assert response.status_code == 405 or response.headers.get("Location", "").startswith("/login/?next=")
    assert client.get(path).status_code != 405 or client.post(path).status_code != 405


@pytest.mark.django_db
@pytest.mark.parametrize("path", CHECKED)
def test_an_address_is_a_page_or_a_verb_and_never_both(admin: Client, path: str) -> None:
    assert [admin.get(path).status_code == 405, admin.post(path).status_code == 405].count(True) == 1


@pytest.mark.django_db
@pytest.mark.parametrize("path", CHANGING)
def test_a_viewer_may_do_nothing(viewer: Client, path: str) -> None:
    assert viewer.post(path).status_code in (403, 405)


@pytest.mark.django_db
def test_who_may_not_is_told_what_it_takes_and_whom_to_ask(viewer: Client) -> None:
    page = viewer.post("/runs/1/pause/").content.decode()
    assert "The action run.pause needs the role operator, or a permission for it alone." in page
    assert "Ask an admin of this console." in page


@pytest.mark.django_db
@pytest.mark.parametrize("path", CHECKED)
def test_a_verb_without_a_csrf_token_is_refused(admin: Client, path: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = admin.cookies
    assert strict.post(path).status_code in (403, 405)


@pytest.mark.django_db
def test_a_live_region_whose_session_ended_sends_the_page_to_the_login(client: Client) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/runs/?state=active"}
    response = client.get("/runs/", headers=headers)
    assert response.status_code == 401
    assert response["HX-Redirect"] == "/login/?next=%2Fruns%2F%3Fstate%3Dactive"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/", "/login/", "/healthz", "/no-such-page", "/static/console.css"])
def test_every_answer_has_the_security_headers(admin: Client, path: str) -> None:
    response = admin.get(path)
    response.close()
    headers = response.headers
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
