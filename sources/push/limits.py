"""How much a token may report in a minute.

The count is a row in Postgres, so that reporting needs nothing but Postgres. It is taken by one conditional update:
requests at the same moment queue for the row and each sees what the others took. The request that crosses the limit is
still taken, so the limit is passed by one request at most, and none is too large to be ever taken.
"""

import math
from datetime import timedelta

from django.conf import settings
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Now

from sources.models import Token
from sources.push.errors import RefusedError

WINDOW = timedelta(minutes=1)


def take(token: Token, number: int) -> None:
    """Count so many failures for the token; refuses if its minute is full."""
    is_over = Q(window_at=None) | Q(window_at__lte=Now() - WINDOW)
    is_taken = (
        Token.objects.filter(pk=token.pk)
        .filter(is_over | Q(window_count__lt=settings.PUSH_PER_MINUTE))
        .update(
            used_at=Now(),
            window_at=Case(When(is_over, then=Now()), default=F("window_at")),
            window_count=Case(When(is_over, then=Value(number)), default=F("window_count") + number),
        )
    )
    if not is_taken:
        seconds = count_seconds_left(token)
        raise RefusedError(
            429,
            f"This token has reported {settings.PUSH_PER_MINUTE:,} failures within a minute, which is its limit. "
            f"Nothing of this request was recorded; send it again in {seconds} s.",
            {"Retry-After": str(seconds)},
        )


def count_seconds_left(token: Token) -> int:
    """Until the minute is over, by the database's clock, which began it."""
    left = Token.objects.filter(pk=token.pk).values_list(F("window_at") + WINDOW - Now(), flat=True).first()
    return max(1, math.ceil(left.total_seconds())) if left else 1
