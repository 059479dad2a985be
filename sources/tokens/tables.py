from urllib.parse import urlencode

import django_tables2 as tables
from django.urls import reverse

from dashboard.columns import TimeColumn
from dashboard.markup import markup
from dashboard.templatetags.console import ago
from sources.models import Token


class TokenTable(tables.Table):
    source = tables.Column()
    hint = tables.Column(verbose_name="Token", attrs={"td": {"class": "mono"}})
    note = tables.Column(verbose_name="What for")
    used_at = TimeColumn(verbose_name="Last used", default="never")
    created_at = TimeColumn(verbose_name="Made")
    created_by = tables.Column(verbose_name="Made by")
    state = tables.Column(empty_values=())
    verbs = tables.Column(verbose_name="", empty_values=())

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"token-{record.pk}"}

    def render_hint(self, value: str) -> str:
        return f"{value}…"

    def render_state(self, record: Token) -> str:
        if record.revoked_at is None:
            return markup('<span class="badge good">Active</span>')
        return markup(
            '<span><span class="badge mute">Revoked</span> {} by {}</span>',
            ago(record.revoked_at),
            record.revoked_by,
        )

    def render_verbs(self, record: Token) -> str:
        if record.revoked_at:
            entries = urlencode({"subject": record.source, "action": "token.revoke"})
            return markup(
                '<div class="verbs"><a class="btn" href="{}?{}">See why</a></div>', reverse("audit"), entries
            )
        return markup(
            '<div class="verbs"><a class="btn danger" href="{}" data-dialog>Revoke…'
            '<span class="sr-only"> {}</span></a></div>',
            reverse("sources:confirm_revoke_token", args=[record.pk]),
            record,
        )
