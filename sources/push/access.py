"""Who reports: the bearer of a token."""

from django.http import HttpRequest

from sources.models import Token
from sources.push.errors import RefusedError
from sources.tokens.secret import find_token

SCHEME = "bearer"
# The same for every token that does not count, whatever the reason.
NO_TOKEN = "Send a valid token: Authorization: Bearer TOKEN."  # noqa: S105


def get_token(request: HttpRequest) -> Token:
    """The token of the request; without one, or with another scheme, it is looked for all the same."""
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    token = find_token(secret.strip() if scheme.lower() == SCHEME else "")
    if token is None:
        raise RefusedError(401, NO_TOKEN, {"WWW-Authenticate": "Bearer"})
    return token
