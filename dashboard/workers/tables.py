import django_tables2 as tables

from dashboard.columns import TimeColumn
from dashboard.markup import markup
from dashboard.models import Heartbeat
from dashboard.workers.queries import is_silent


class HeartbeatTable(tables.Table):
    name = tables.Column(verbose_name="Process", attrs={"td": {"class": "mono"}})
    kind = tables.Column()
    state = tables.Column(empty_values=())
    queues = tables.Column(accessor="facts__queues")
    concurrency = tables.Column(
        accessor="facts__concurrency", verbose_name="At once", attrs={"cell": {"class": "num"}}
    )
    pid = tables.Column(
        accessor="facts__pid", verbose_name="Process id", attrs={"cell": {"class": "num"}}, localize=False
    )
    started_at = TimeColumn(verbose_name="Started")
    seen_at = TimeColumn(verbose_name="Last heartbeat")

    class Meta:
        orderable = False
        default = "–"
        row_attrs = {"id": lambda record: f"process-{record.pk}"}

    def render_state(self, record: Heartbeat) -> str:
        tone, word = ("bad", "Silent") if is_silent(record) else ("good", "Alive")
        return markup('<span class="badge {}">{}</span>', tone, word)

    def render_queues(self, value: list[str]) -> str:
        return ", ".join(value)
