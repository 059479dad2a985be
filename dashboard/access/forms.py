from typing import Any

from django import forms

from dashboard.actions import ROLES
from dashboard.fields import NamedChoiceField, ReasonField


class ReasonForm(forms.Form):
    """Why an administrator does it; it stays in the audit trail."""

    reason = ReasonField("Say why; the next admin will read it.")


def choose_role(*first: tuple[str, str]) -> NamedChoiceField:
    choices = [*first, *((role, role) for role in ROLES)]
    return NamedChoiceField(choices=choices, error_messages={"required": "Choose one."})


class RoleForm(ReasonForm):
    """Which role somebody gets; whoever has none yet must be given one."""

    role = choose_role()
    field_order = ("role", "reason")

    def __init__(self, data: Any = None, *, role: str) -> None:
        super().__init__(data, initial={"role": role})
        if not role:
            self.fields["role"] = choose_role(("", "no role"))
