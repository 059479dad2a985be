"""How a consumer that calls back shows that it may: with a token that only the delivery itself carried."""

from django.utils.crypto import constant_time_compare, salted_hmac


def make_token(item_id: int) -> str:
    return salted_hmac("dlq.callback", str(item_id), algorithm="sha256").hexdigest()


def is_token(item_id: int, token: str) -> bool:
    return constant_time_compare(make_token(item_id), token)
