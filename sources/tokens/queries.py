"""Sources that report by themselves."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, Max, Q

from sources.models import Token


class Reporter(NamedTuple):
    """A source that may report, when it last did (None: never), and with how many tokens."""

    source: str
    used_at: datetime | None
    token_count: int


def list_reporters() -> list[Reporter]:
    """Those with a token that counts, by name; a revoked one tells when it was last used, too."""
    tokens = Token.objects.values_list("source").annotate(
        Max("used_at"), token_count=Count("pk", filter=Q(revoked_at=None))
    )
    return [Reporter(*row) for row in tokens.filter(token_count__gt=0).order_by("source")]
