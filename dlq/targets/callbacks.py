"""How a consumer that calls back shows that it may: with a token that only the delivery itself carried."""

from django.utils.crypto import constant_time_compare, salted_hmac

# As in urls.py: a worker that is about to send must not load every page first to know it.
PATH = "/dead-letters/replay/deliveries/{}/"


def make_url(console: str, item_id: int) -> str:
    return console.rstrip("/") + PATH.format(item_id)


def make_token(item_id: int) -> str:
    return salted_hmac("dlq.callback", str(item_id), algorithm="sha256").hexdigest()


def is_token(item_id: int, token: str) -> bool:
    return constant_time_compare(make_token(item_id), token)
