"""What a token's secret looks like, and how it is looked up.

The secret is 256 random bits, so a plain hash of it cannot be guessed back. It is found by its hash: what the index
compares are digests, and how far two of those agree says nothing about the secrets.
"""

import secrets

from dashboard.login_links import hash_token
from sources.models import Token

# Recognisable in a log or a commit, for those who scan for leaked secrets.
PREFIX = "redrive_"
HINT_LENGTH = len(PREFIX) + 4


def make_secret() -> str:
    return PREFIX + secrets.token_urlsafe(32)


def find_token(secret: str) -> Token | None:
    """None if there is no such token or it was revoked; both take the same way."""
    return Token.objects.filter(secret_hash=hash_token(secret), revoked_at=None).first()
