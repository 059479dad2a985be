"""Ready-made policies with the numbers of the documents that asked for them; own ones come from the settings.

The Service Bus, Blob Storage and Key Vault tables give a "Timeout" and a "Reset Period". Timeout is read as the call
timeout and Reset Period as the time a breaker stays open before it lets a probe through.
"""

from dataclasses import fields
from functools import cache
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from breakers.policy import Policy
from dashboard.config import refuse_unknown

SHIPPED = {
    "default": Policy(),
    "webhook": Policy(
        failure_threshold=5,
        open_seconds=300,
        note="The endpoint is on the blacklist until the cooldown is over. Events for it are not delivered meanwhile.",
    ),
    "escrow": Policy(failure_threshold=5, window_seconds=60, open_seconds=30, half_open_probes=1),
    "service-bus": Policy(
        failure_threshold=5,
        success_threshold=3,
        call_timeout_seconds=30,
        open_seconds=300,
        # 429 and timeouts count. 503 gets a short retry instead; 401, 403 and 404 need a person, not a pause.
        ignored_statuses=(401, 403, 404, 503),
        note="Throttling (429) opens this breaker; halve the send rate before it closes.",
    ),
    "blob-storage": Policy(
        failure_threshold=3,
        success_threshold=2,
        call_timeout_seconds=10,
        open_seconds=120,
        ignored_statuses=(401, 403),
        note="Payloads are not stored while it is open. Processing goes on; they cannot be replayed from storage.",
    ),
    "key-vault": Policy(
        failure_threshold=3,
        success_threshold=2,
        call_timeout_seconds=15,
        open_seconds=180,
        ignored_statuses=(401, 403),
        note="Secrets come from the cache: fresh for 5 minutes, extended to 30 minutes during an outage, then requests"
        " get a 503. Rotating a secret empties the cache.",
    ),
}


@cache
def list_profiles() -> dict[str, Policy]:
    """All profiles by name; an own one replaces a shipped one of the same name."""
    own = {name: read_own(name, values) for name, values in settings.BREAKER_PROFILES.items()}
    return SHIPPED | own


def read_own(name: str, values: dict[str, Any]) -> Policy:
    where = f"REDRIVE_BREAKER_PROFILES: {name!r}"
    refuse_unknown(values, [field.name for field in fields(Policy)], where)
    try:
        return Policy.from_dict(values)
    except ValueError as error:
        raise ImproperlyConfigured(f"{where}: {error}") from None


def get_profile(name: str) -> Policy:
    profiles = list_profiles()
    if name not in profiles:
        raise ValueError(f"There is no breaker profile {name!r}; there are {', '.join(sorted(profiles))}.")
    return profiles[name]
