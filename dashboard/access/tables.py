from typing import Any

import django_tables2 as tables
from django.contrib.auth.models import User
from django.middleware.csrf import get_token

from dashboard.access.roles import get_role
from dashboard.actions import ROLES
from dashboard.columns import TemplateCell, TimeColumn
from dashboard.markup import markup


class UserTable(tables.Table):
    username = tables.Column(verbose_name="User")
    state = tables.Column(empty_values=())
    role = TemplateCell("access/_role_cell.html", empty_values=())
    last_login = TimeColumn(verbose_name="Last signed in")
    verbs = TemplateCell("access/_verbs_cell.html", verbose_name="", empty_values=())

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"user-{record.pk}"}

    def render_state(self, record: User) -> str:
        tone, word = ("good", "Active") if record.is_active else ("mute", "Disabled")
        return markup('<span class="badge {}">{}</span>', tone, word)

    def context_role(self, record: User) -> dict[str, Any]:
        return {**self.context_verbs(record), "role": get_role(record), "roles": ROLES}

    def context_verbs(self, record: User) -> dict[str, Any]:
        is_self = record == self.request.user
        return {"user": record, "is_self": is_self, "csrf_token": get_token(self.request)}
