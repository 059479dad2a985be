import pytest
from django.test import Client

PAGES = ["/", "/runs/", "/workers/", "/audit/", "/users/", "/login/", "/favicon.svg?n=3"]


@pytest.mark.parametrize("page", PAGES)
def test_page(admin: Client, page: str) -> None:
    assert admin.get(page).status_code == 200
    assert admin.get(page, headers={"HX-Request": "true"}).status_code == 200
