"""What admins do with tokens."""

import re
from uuid import UUID, uuid4

from django.conf import settings
from django.utils import timezone

from dashboard import audit
from dashboard.login_links import hash_token
from sources.models import Token
from sources.tokens.secret import HINT_LENGTH, make_secret

# Letters of our own projections: a handler of this console would handle what anybody pushed under it.
RESERVED = frozenset({"native"})
SOURCE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


class TokenError(Exception):
    """Why it was not done, for the person who asked."""


class SourceNameError(TokenError):
    """The source cannot have that name."""


def create_token(
    source: str, *, actor: audit.Actor, note: str = "", request_key: UUID | None = None
) -> tuple[Token, str]:
    """A new token and its secret, which is shown now and never again."""
    check_source(source)
    secret = make_secret()
    with audit.action("token.create", actor=actor, subject=source, reason=note) as entry:
        token, is_new = Token.objects.get_or_create(
            request_key=request_key or uuid4(),
            defaults={
                "source": source,
                "note": note,
                "secret_hash": hash_token(secret),
                "hint": secret[:HINT_LENGTH],
                "created_by": str(actor),
            },
        )
        entry.details = {"token": token.hint}
        if not is_new:
            raise TokenError(
                f"This form was sent twice and made one token, {token.hint}…; its secret stood in the first answer. "
                "If you did not see it, revoke that token and make another."
            )
    return token, secret


def revoke_token(token: Token, *, actor: audit.Actor, reason: str) -> None:
    """Refuse whoever uses it, from now on; what is under way is still taken."""
    with audit.action("token.revoke", actor=actor, subject=token.source, reason=reason) as entry:
        entry.details = {"token": token.hint}
        is_done = Token.objects.filter(pk=token.pk, revoked_at=None).update(
            revoked_at=timezone.now(), revoked_by=str(actor)
        )
        if not is_done:
            raise TokenError(f"The {token} is revoked already. Nothing was changed.")


def check_source(source: str) -> None:
    if not SOURCE_NAME.fullmatch(source):
        raise SourceNameError(
            f"The source's name is {source!r}; write up to 100 of a–z, A–Z, 0–9, dots, dashes and underscores, "
            "the first of a–z, A–Z or 0–9."
        )
    if source in RESERVED:
        raise SourceNameError(f"{source!r} is what the console calls its own events; choose another name.")
    if source in settings.SOURCES:
        # A letter has one owner: what a sync finds closed there it closes here.
        raise SourceNameError(
            f"{source!r} is read from its own tables, as redrive.toml says; choose another name."
        )
