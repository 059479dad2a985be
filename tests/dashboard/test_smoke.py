import pytest
from django.test import Client

PAGES = ["/", "/runs/", "/workers/", "/audit/", "/users/", "/login/", "/favicon.svg?n=3"]


@pytest.mark.parametrize("page", PAGES)
def test_page(admin: Client, page: str) -> None:
    assert admin.get(page).status_code == 200
    assert admin.get(page, headers={"HX-Request": "true"}).status_code == 200


def test_what_opens_as_a_dialog_changes_nothing_of_the_page_it_stands_on(admin: Client) -> None:
    page, address = {"HX-Request": "true"}, "/dead-letters/replay/stop/confirm/"
    assert b'<nav class="nav"' in admin.get(address, headers=page).content
    dialog = admin.get(address, headers=page | {"HX-Target": "dialog"}).content
    assert b"Stop all replays?" in dialog
    assert b"hx-swap-oob" not in dialog
