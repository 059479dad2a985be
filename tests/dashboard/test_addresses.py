from typing import Any

import pytest
from django.test import RequestFactory

from dashboard.addresses import client_address

FORGED = "198.51.100.1, "


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        (f"{FORGED}192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:50123", "192.0.2.7"),
        ("2001:db8::7", "2001:db8::7"),
        ("[2001:db8::7]", "2001:db8::7"),
        (f"{FORGED}[2001:db8::7]:50123", "2001:db8::7"),
        ("fe80::1%eth0", "fe80::1"),
        ("unknown", None),
        ("192.0.2.7:http", None),
    ],
)
def test_behind_a_trusted_proxy_the_client_is_the_last_hop(
    settings: Any, named: str, address: str | None
) -> None:
    settings.TRUST_PROXY = True
    assert client_address(RequestFactory().get("/", HTTP_X_FORWARDED_FOR=named)) == address


def test_otherwise_nobody_is_asked_who_it_is(settings: Any) -> None:
    settings.TRUST_PROXY = False
    assert client_address(RequestFactory().get("/", HTTP_X_FORWARDED_FOR="192.0.2.7")) == "127.0.0.1"
