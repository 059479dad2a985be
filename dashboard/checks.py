"""System checks: each misconfiguration is named, with a hint what to write instead."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


def register_checks() -> None:
    register(check_installation, Tags.security)


def check_installation(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    return [] if settings.EMBEDDED else list(find_mistakes())


def find_mistakes() -> Iterator[CheckMessage]:
    """What is wrong with an installation that others than its starter can reach."""
    if not settings.ALLOWED_HOSTS:
        yield Error(
            "No host name is allowed, so every request would be refused.",
            hint="Set REDRIVE_ALLOWED_HOSTS to the console's host names, separated by commas.",
            id="redrive.E001",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Error(
            "Every host name is allowed, which lets a forged Host header into links.",
            hint="Name the console's hosts in REDRIVE_ALLOWED_HOSTS.",
            id="redrive.E002",
        )
    if len(settings.SECRET_KEY) < 50:
        yield Error(
            "The secret key is shorter than 50 characters.",
            hint="Set REDRIVE_SECRET_KEY to at least 50 random characters.",
            id="redrive.E003",
        )
    if settings.DEBUG:
        yield Error(
            "Debug pages show settings and payloads to anyone.",
            hint="Remove REDRIVE_DEBUG.",
            id="redrive.E004",
        )
    if not settings.HTTPS:
        yield Warning(
            "Sessions travel without TLS.",
            hint="Remove REDRIVE_HTTPS=0 and put the console behind TLS.",
            id="redrive.W001",
        )
    if settings.HTTPS and not settings.TRUST_PROXY:
        yield Warning(
            "Behind a proxy that ends TLS every request would be redirected to itself for ever.",
            hint="Set REDRIVE_TRUST_PROXY=1 if your proxy sets X-Forwarded-Proto and X-Forwarded-For.",
            id="redrive.W003",
        )
    if "unix" not in settings.REDIS_URL and "@" not in settings.REDIS_URL:
        yield Warning(
            "Redis is used without a password: whoever reaches it can send tasks to the workers.",
            hint="Write REDIS_URL as rediss://user:password@host:port/0.",
            id="redrive.W002",
        )
