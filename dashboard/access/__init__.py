"""Who may do what: roles are groups, and every action that a role may do is one permission."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase

from dashboard.actions import get_action

View = Callable[..., HttpResponseBase]


def permission(action: str) -> str:
    """The name under which Django knows the permission to do an action."""
    return f"dashboard.{get_action(action).name}"


def may(user: Any, action: str) -> bool:
    return bool(user.has_perm(permission(action)))


def needs(action: str) -> Callable[[View], View]:
    """Let only those through who may do the action; decided here, never in a template."""

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not may(request.user, action):
                role = get_action(action).role or "nobody"
                raise PermissionDenied(
                    f"The action {action} needs the role {role}, or a permission for it alone."
                )
            return view(request, *args, **kwargs)

        return checked

    return decorate
