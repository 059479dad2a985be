from typing import Any

import django_tables2 as tables
from django.contrib.auth.models import User

from dashboard.access.roles import get_role
from dashboard.columns import TemplateCell, TimeColumn
from dashboard.markup import markup


class UserTable(tables.Table):
    username = tables.Column(verbose_name="User")
    state = tables.Column(empty_values=())
    role = tables.Column(empty_values=())
    last_login = TimeColumn(verbose_name="Last signed in", default="never")
    verbs = TemplateCell("access/_verbs_cell.html", verbose_name="", empty_values=())

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"user-{record.pk}"}

    def render_state(self, record: User) -> str:
        tone, word = ("good", "Active") if record.is_active else ("mute", "Disabled")
        return markup('<span class="badge {}">{}</span>', tone, word)

    def render_role(self, record: User) -> str:
        return get_role(record) or "no role"

    def context_verbs(self, record: User) -> dict[str, Any]:
        return {"user": record, "is_self": record == self.request.user}
