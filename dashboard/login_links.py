"""One-time links that sign the local administrator in; only for the embedded console, only from this machine."""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from dashboard import audit
from dashboard.access import roles
from dashboard.actions import ADMIN
from dashboard.models import LoginLink

LOCAL_ADMINISTRATOR = "local-admin"
LIFETIME = timedelta(minutes=10)


class LinksUnavailableError(Exception):
    """Sign-in links exist only where the database is the embedded one; elsewhere use `manage.py create_user`."""


def create_link(base_url: str) -> str:
    """Make a link for the local administrator, and the administrator if need be; returns the whole URL."""
    if not settings.EMBEDDED:
        raise LinksUnavailableError(LinksUnavailableError.__doc__)
    with audit.action("link.create", actor="command line", subject=LOCAL_ADMINISTRATOR):
        user, made = User.objects.get_or_create(username=LOCAL_ADMINISTRATOR)
        if made:
            user.set_unusable_password()
        # Whoever can run this command owns the database: the link must work, whatever became of the user.
        user.is_active = True
        user.save()
        roles.set_role(user, ADMIN)
        token = secrets.token_urlsafe(32)
        LoginLink.objects.create(
            token_hash=hash_token(token), user=user, expires_at=timezone.now() + LIFETIME
        )
    return base_url.rstrip("/") + reverse("login_link", args=[token])


def find_link(token: str) -> LoginLink | None:
    """The link if it can still be used, otherwise None."""
    return LoginLink.objects.filter(
        token_hash=hash_token(token), used_at=None, expires_at__gt=timezone.now(), user__is_active=True
    ).first()


def redeem_link(token: str) -> User | None:
    """Use the link up; None if it is unknown, used, expired, or somebody was faster."""
    link = find_link(token)
    if link is None:
        return None
    claimed = LoginLink.objects.filter(pk=link.pk, used_at=None).update(used_at=timezone.now())
    return link.user if claimed else None


def hash_token(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
