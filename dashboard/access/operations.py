"""What admins do with users."""

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from dashboard import audit
from dashboard.access import roles
from dashboard.actions import ADMIN


class AccessError(Exception):
    """The change would leave nobody who can undo it, or there is nothing to change."""


def create_user(username: str, *, role: str, password: str | None, actor: audit.Actor) -> User:
    with audit.action("user.create", actor=actor, subject=username) as entry:
        user = User.objects.create_user(username, password=password)
        roles.set_role(user, role)
        entry.details = {"role": role}
    return user


def assign_role(user: User, role: str, *, actor: audit.Actor, reason: str) -> None:
    with audit.action("user.assign_role", actor=actor, subject=user.username, reason=reason) as entry:
        entry.details = {"from": roles.get_role(user), "to": role}
        if role != ADMIN:
            keep_an_admin(user)
        # A superuser counts as an admin, and can be made an ordinary one.
        if roles.get_role(user) == role and not user.is_superuser:
            raise AccessError(f"{user.username} has the role {role} already.")
        roles.set_role(user, role)


def disable_user(user: User, *, actor: audit.Actor, reason: str) -> None:
    """Lock the user out, at once: open sessions end too."""
    with audit.action("user.disable", actor=actor, subject=user.username, reason=reason):
        keep_an_admin(user)
        if user == actor:
            raise AccessError("Nobody can disable themselves; another admin can.")
        if not User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
            raise AccessError(f"{user.username} is disabled already.")
        end_sessions(user)


def enable_user(user: User, *, actor: audit.Actor, reason: str) -> None:
    with audit.action("user.enable", actor=actor, subject=user.username, reason=reason):
        if not User.objects.filter(pk=user.pk, is_active=False).update(is_active=True):
            raise AccessError(f"{user.username} may sign in already.")


def keep_an_admin(leaving: User) -> None:
    """Refuse if nobody else could administer the console."""
    with connection.cursor() as cursor:
        # Two admins who demote each other at the same moment must not both succeed.
        cursor.execute("LOCK TABLE auth_user_groups IN SHARE ROW EXCLUSIVE MODE")
    admins = roles.list_admins()
    if leaving in admins and len(admins) == 1:
        raise AccessError(f"{leaving.username} is the only admin; make somebody else one first.")


def end_sessions(user: User) -> None:
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        if session.get_decoded().get("_auth_user_id") == str(user.pk):
            session.delete()
