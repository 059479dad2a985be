"""Roles are Django's groups; this keeps them in step with the list of actions."""

from typing import Any

from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType

from dashboard.actions import ADMIN, ROLES, list_actions
from dashboard.models import AuditEntry


def sync_roles(**_: Any) -> None:
    """Make the missing groups and permissions after a migration.

    Only a permission that is new is granted: what an admin took from a role stays taken.
    """
    groups = {role: Group.objects.get_or_create(name=role)[0] for role in ROLES}
    # The database may have been emptied since this process last looked.
    ContentType.objects.clear_cache()
    content_type = ContentType.objects.get_for_model(AuditEntry)
    known = set(Permission.objects.filter(content_type=content_type).values_list("codename", flat=True))
    for action in list_actions():
        if action.role is None or action.name in known:
            continue
        permission = Permission.objects.create(
            content_type=content_type, codename=action.name, name=action.description[:255]
        )
        for role in action.roles:
            groups[role].permissions.add(permission)


def get_role(user: User) -> str:
    """The user's role; a superuser is an admin whatever the groups say, and nobody in no group is a viewer."""
    if user.is_superuser:
        return ADMIN
    names = {group.name for group in user.groups.all()}
    return next((role for role in reversed(ROLES) if role in names), "")


def set_role(user: User, role: str) -> None:
    """Give the user this role and no other."""
    user.groups.remove(*Group.objects.filter(name__in=ROLES))
    user.groups.add(Group.objects.get(name=role))
    # A superuser may do everything whatever the role says.
    User.objects.filter(pk=user.pk).update(is_superuser=False)
    user.is_superuser = False


def list_admins() -> list[User]:
    """Everyone who could still let others in."""
    by_group = User.objects.filter(is_active=True, groups__name=ADMIN)
    return list(by_group.union(User.objects.filter(is_active=True, is_superuser=True)))
