import django_tables2 as tables
from django.urls import reverse

from dashboard.columns import TimeColumn
from dashboard.markup import markup
from sources.models import Token


class TokenTable(tables.Table):
    source = tables.Column()
    hint = tables.Column(verbose_name="Token", attrs={"td": {"class": "mono"}})
    note = tables.Column(verbose_name="What for")
    used_at = TimeColumn(verbose_name="Last used", default="never")
    created_at = TimeColumn(verbose_name="Made")
    created_by = tables.Column(verbose_name="By")
    state = tables.Column(empty_values=())
    verbs = tables.Column(verbose_name="", empty_values=())

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"token-{record.pk}"}

    def render_hint(self, value: str) -> str:
        return f"{value}…"

    def render_state(self, record: Token) -> str:
        tone, word = ("mute", "Revoked") if record.revoked_at else ("good", "Active")
        return markup('<span class="badge {}">{}</span>', tone, word)

    def render_verbs(self, record: Token) -> str:
        if record.revoked_at:
            return markup('<span class="dim">by {}</span>', record.revoked_by)
        return markup(
            '<a class="btn danger" href="{}" data-dialog>Revoke…<span class="sr-only"> {}</span></a>',
            reverse("sources:confirm_revoke_token", args=[record.pk]),
            record,
        )
