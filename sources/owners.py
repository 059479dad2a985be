"""A letter has one owner: a source whose tables are read must not report by itself under the same name."""

from sources.models import Token


def why_not_read(name: str) -> str:
    """Why the source is not looked at although redrive.toml names it; empty: it is.

    Otherwise a failure that it reports would open a row in its tables again.
    """
    count = Token.objects.filter(source=name, revoked_at=None).count()
    if not count:
        return ""
    tokens, them = ("a token", "it") if count == 1 else (f"{count} tokens", "them")
    return (
        f"{name} has {tokens} to report its failures by itself, under the same name; revoke {them}, or give the "
        "source another name in redrive.toml."
    )
