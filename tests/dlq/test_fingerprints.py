"""Fingerprints: what makes two failures the same, in bounded time."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlq.fingerprints import find_error_type, find_own_frame, fingerprint, normalise

CHAINED = """Traceback (most recent call last):
  File "/app/shop/rates.py", line 3, in rate
    return rates[name]
KeyError: 'rate_1'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/releases/42/shop/handlers.py", line 10, in apply
    place(order)
  File "/venv/lib/python3.11/site-packages/carrier/client.py", line 9, in send
    raise CarrierError(text)
carrier.errors.CarrierError: carrier is null
expected string
"""


@pytest.mark.parametrize(
    ("message", "normal"),
    [
        (
            "negative total -5.0 for order 92bb1f0e-1111-2222-3333-444455556666",
            "negative total <n> for order <id>",
        ),
        ("POST https://hooks.example/orders?id=7 failed", "POST <url> failed"),
        ("can't open '/tmp/a' or \"b c\"", "can't open <value> or <value>"),
        ("no file /srv/app/data/7.json", "no file <path>"),
        ("since 2026-11-16T00:55:20.181686Z", "since <time>"),
        ("pointer 0xdeadbeef, commit 4f2a9c1be0", "pointer <hex>, commit <hex>"),
        ("mail to alice@x.example bounced", "mail to <email> bounced"),
        ("took 1,234.5 ms,\n  12% of 10.0.0.1:5432", "took <n> ms, <n>% of <n>"),
        ("'rate_XXX'", "<value>"),
        ("", ""),
    ],
)
def test_values_are_taken_out_of_a_message(message: str, normal: str) -> None:
    assert normalise(message) == normal


def test_the_error_is_the_last_raised_whatever_the_lines_of_its_message() -> None:
    assert find_error_type(CHAINED) == "CarrierError"
    assert find_error_type("TypeError: no traceback here") == ""


def test_the_frame_is_the_deepest_of_the_application_wherever_it_was_deployed() -> None:
    assert find_own_frame(CHAINED) == "shop/handlers.py in apply"
    assert find_own_frame(CHAINED.replace("releases/42", "releases/43")) == "shop/handlers.py in apply"
    assert find_own_frame("at com.example.Shop.apply(Shop.java:10)") == ""


def make(**changes: str) -> str:
    given = {"source": "s", "consumer": "c", "error_type": "E", "message": "order 1", "stacktrace": CHAINED}
    return fingerprint(**given | changes).value


def test_the_same_failure_with_other_values_has_the_same_fingerprint() -> None:
    assert make() == make(message="order 2")
    assert (
        len({make(), make(consumer="d"), make(error_type="F"), make(message="cart 1"), make(stacktrace="")})
        == 5
    )


def test_a_fingerprint_never_changes_within_a_version() -> None:
    """If this fails, raise VERSION: every group would begin anew."""
    assert make() == "v1-292c174fe2464800f70ee172828cab8e"


@settings(max_examples=60, deadline=None)
@given(st.text("a1'\"/.:@-x \nF{}[]`%", max_size=400).map(lambda text: text * 50) | st.text(max_size=300))
def test_any_text_has_one_fingerprint_and_soon(text: str) -> None:
    """Also the texts that make a careless pattern run for minutes."""
    one, same = (
        make(message=text, stacktrace=f"Traceback (most recent call last):\n{text}") for _ in range(2)
    )
    assert one == same
