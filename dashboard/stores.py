"""Spellings of the two stores' addresses; free of Django so that settings can use it."""

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

DJANGO_NAMES = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}


def django_database(url: str) -> dict[str, Any]:
    """Turn a postgresql:// URL into Django's dictionary; what Django has no name for is passed to libpq."""
    try:
        parts = conninfo_to_dict(url)
    except ProgrammingError:
        raise ImproperlyConfigured("DATABASE_URL is not a valid postgresql:// address.") from None
    named = {DJANGO_NAMES[key]: value for key, value in parts.items() if key in DJANGO_NAMES}
    options = {key: value for key, value in parts.items() if key not in DJANGO_NAMES}
    return {"ENGINE": "dashboard.database", **named, "OPTIONS": options}


def kombu_url(redis_url: str) -> str:
    """Kombu spells a Unix socket differently from redis-py: unix:///path?db=1 is redis+socket:///path?virtual_host=1."""
    if not redis_url.startswith("unix://"):
        return redis_url
    path, _, query = redis_url.removeprefix("unix://").partition("?")
    database = query.removeprefix("db=") or "0"
    return f"redis+socket://{path}?virtual_host={database}"
