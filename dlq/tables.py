from typing import Any
from urllib.parse import quote

import django_tables2 as tables
from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.safestring import SafeString

from dashboard.charts import draw_bars, draw_outline
from dashboard.columns import NumberColumn, TimeColumn
from dashboard.markup import markup
from dashboard.words import counted
from dlq.masking import Masker
from dlq.models import DeadLetter
from dlq.queries import GroupRow
from dlq.templatetags.dlq import category_word, status_badge
from projections.api import NATIVE

BADGES = {"new": ("bad", "New today"), "regressed": ("warn", "Regressed"), "muted": ("mute", "Muted")}
SPARKLINE_WIDTH, SPARKLINE_HEIGHT = 96, 20


def name_consumer(source: str, consumer: str) -> str:
    """With its source before it, as redrive.toml names it; our own consumers have none."""
    return consumer if source == NATIVE else f"{source}/{consumer}"


def draw_sparkline(values: list[int], tone: str) -> SafeString:
    """Failures by the hour, the current hour last."""
    bars = draw_bars(values, width=SPARKLINE_WIDTH, height=SPARKLINE_HEIGHT)
    return markup(
        '<svg class="sparkline {}" width="{}" height="{}" role="img" aria-label="{}">'
        '<line x2="{}" y1="{}" y2="{}"/><path d="{}"/></svg>',
        tone,
        SPARKLINE_WIDTH,
        SPARKLINE_HEIGHT,
        f"{counted(sum(values), 'failure')} in {len(values)} hours, {values[-1] if values else 0:,} in the last",
        *(SPARKLINE_WIDTH, SPARKLINE_HEIGHT, SPARKLINE_HEIGHT),
        draw_outline(bars),
    )


class GroupTable(tables.Table):
    """Failure groups, worst first; the accessors name parts of a GroupRow."""

    title = tables.Column(verbose_name="What fails", empty_values=())
    badge = tables.Column(verbose_name="")
    sparkline = tables.Column(verbose_name="24 h", empty_values=())
    open_count = NumberColumn(verbose_name="Open")
    blocked = tables.Column(verbose_name="Holds up", empty_values=())
    versions = tables.Column(verbose_name="Versions", attrs={"td": {"class": "mono"}})
    assignee = tables.Column(accessor="group__assignee", verbose_name="Who", attrs={"td": {"class": "name"}})
    first_at = TimeColumn(verbose_name="First seen")
    last_at = TimeColumn(verbose_name="Last seen")

    class Meta:
        orderable = False
        default = ""
        row_attrs = {"id": lambda record: f"group-{record.group.pk}"}

    def __init__(self, rows: list[GroupRow], *, masker: Masker, exclude: tuple[str, ...] = ()) -> None:
        if not any(row.group.assignee for row in rows):
            exclude += ("assignee",)
        super().__init__(rows, exclude=exclude)
        self.masker = masker

    def render_title(self, record: GroupRow) -> SafeString:
        return markup(
            '<a class="what" href="{}">{}</a><span class="dim">{} · {}</span>',
            reverse("dlq:group", args=[record.group.pk]),
            self.masker.heading(record.group, record.example),
            category_word(record.group.category),
            name_consumer(record.group.source, record.group.consumer),
        )

    def render_badge(self, value: str) -> SafeString:
        return markup('<span class="badge {}">{}</span>', *BADGES[value])

    def render_sparkline(self, record: GroupRow) -> SafeString:
        return draw_sparkline(record.sparkline, record.group.category)

    def render_open_count(self, record: GroupRow) -> SafeString:
        if not record.poison_count:
            return markup("{}", intcomma(record.open_count))
        return markup(
            '{} <span class="dim">{} poison</span>',
            intcomma(record.open_count),
            intcomma(record.poison_count),
        )

    def render_blocked(self, record: GroupRow) -> SafeString | str:
        group = record.group
        if not group.blocked_sequence_count:
            return ""
        parked = group.parked_count
        return markup(
            '<span class="dim"><span class="nowrap">{}{}</span>{}</span>',
            counted(group.blocked_sequence_count, "sequence"),
            "," if parked else "",
            markup(' <span class="nowrap">{} parked</span>', intcomma(parked)) if parked else "",
        )

    def render_versions(self, value: list[str]) -> SafeString | str:
        if not value:
            return ""
        return markup("<span>{}</span>", ", ".join(value[:3]) + (" …" if len(value) > 3 else ""))


class LetterTable(tables.Table):
    """Letters of a page; only what a list needs, never payload or stack trace."""

    select = tables.Column(verbose_name="", empty_values=(), attrs={"td": {"class": "select"}})
    summary = tables.Column(verbose_name="What failed", empty_values=())
    status = tables.Column(empty_values=())
    sequence_key = tables.Column(verbose_name="Sequence", attrs={"td": {"class": "mono"}})
    attempts = NumberColumn()
    first_failed_at = TimeColumn(verbose_name="First")
    last_failed_at = TimeColumn(verbose_name="Last")

    class Meta:
        orderable = False
        default = ""
        row_attrs = {"id": lambda record: f"letter-{record.pk}"}

    def __init__(
        self, rows: list[DeadLetter], *, masker: Masker, runs: dict[int, int], **kwargs: Any
    ) -> None:
        """`runs` says which letters are in which active run."""
        super().__init__(rows, **kwargs)
        self.masker = masker
        self.runs = runs
        self.letters_url = reverse("dlq:letters")

    def render_select(self, record: DeadLetter) -> SafeString:
        return markup(
            '<input type="checkbox" name="id" value="{0}" id="select-{0}" aria-label="Select letter {0}">',
            record.pk,
        )

    def render_summary(self, record: DeadLetter) -> SafeString:
        headline = self.masker.headline(record) or record.event_type or record.event_id
        return markup(
            '<a class="what" href="{}{}/">{}</a><span class="dim">{}{}{}</span>',
            self.letters_url,
            record.pk,
            headline,
            markup("{} · ", category_word(record.category)) if record.category else "",
            record.consumer,
            markup(" · {}", record.event_type) if record.event_type not in ("", headline) else "",
        )

    def render_status(self, record: DeadLetter) -> SafeString:
        badge = status_badge(record.status, record.tier)
        if run_id := self.runs.get(record.pk):
            url = reverse("runs:run", args=[run_id])
            badge += markup(' <a class="badge info" href="{}">in run {}</a>', url, run_id)
        return badge

    def render_sequence_key(self, value: str) -> SafeString:
        return markup(
            '<a href="{}?status=any&amp;sequence={}">{}</a>',
            self.letters_url,
            quote(value, safe=""),
            value if len(value) <= 40 else f"{value[:39]}…",
        )
