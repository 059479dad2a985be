from typing import Any

from django.conf import settings
from django.contrib.messages import get_messages
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from dashboard.attention import list_attention
from dashboard.banners import list_banners
from dashboard.memo import Memo
from dashboard.navigation import list_items

# Every page counts what needs a person; what was true two seconds ago will do.
recent_attention = Memo(list_attention, seconds=2)
recent_banners = Memo(list_banners, seconds=2)


def shell(request: HttpRequest) -> dict[str, Any]:
    """What the shell shows on every page; the list of what needs attention is made only if it is shown."""

    def tell(recent: Memo[Any]) -> Any:
        # Who is told what they have just done sees what it changed.
        if len(get_messages(request)):
            recent.forget()
        return recent()

    return {
        "environment_name": settings.ENVIRONMENT_NAME,
        "environment_colour": settings.ENVIRONMENT_COLOUR,
        "attention": SimpleLazyObject(lambda: tell(recent_attention)),
        "banners": SimpleLazyObject(lambda: tell(recent_banners)),
        "navigation": SimpleLazyObject(lambda: list_items(request)),
    }
