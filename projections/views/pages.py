import re
from collections.abc import Iterable
from dataclasses import replace

from django.core.exceptions import BadRequest
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from dashboard.access import may
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.paging import get_page, live_url
from dlq.api import draw_masked, list_recent
from projections import accounting, charts, queries
from projections.definition import find_projector
from projections.foreign.queries import list_foreign_rows
from projections.foreign.tables import ForeignTable
from projections.lines import list_lines
from projections.models import NATIVE, Projection
from projections.reasons import SEVERITY, Reason, explain_missing
from projections.store.read import find_event
from projections.tables import HistoryTable, ProjectionTable, RequestTable, SkipTable

RECENT_SIZE = 10
# As many digits as any id has; more of them, and the database would refuse the question.
MAYBE_ID = re.compile(r"[0-9]{1,18}")


@require_safe
def list_projections(request: HtmxHttpRequest) -> HttpResponse:
    rows, foreign = queries.list_rows(), list_foreign_rows()
    context = {
        "rows": rows,
        "table": ProjectionTable(rows),
        "lines": list_lines(rows, [row.projection for row in foreign]),
        "foreign": foreign,
        "foreign_table": ForeignTable(foreign),
        # What needs somebody is not to be scrolled for.
        "is_foreign_first": find_gravest(row.worst for row in foreign)
        < min(find_gravest(row.reason for row in rows), (True, SEVERITY["info"])),
        "live_url": request.path,
    }
    return render_page(request, "projections/projections.html", context, title="Projections")


def find_gravest(reasons: Iterable[Reason]) -> tuple[bool, int]:
    return min((reason.rank for reason in reasons), default=(True, SEVERITY["good"]))


@require_safe
def show_projection(request: HtmxHttpRequest, projection_id: int) -> HttpResponse:
    projection = get_object_or_404(Projection, pk=projection_id)
    row, account = queries.get_row(projection), accounting.show(projection)
    if account.missing and row.reason.tone == "good":
        # Beat has not come to it yet, and the page is not to contradict its own account.
        row = replace(row, reason=explain_missing(account.missing))
    projector = find_projector(projection.name)
    blocked = find_event(projection.position + 1) if projection.block else None
    context = {
        "row": row,
        "projection": projection,
        "chart": charts.draw_lag(row.measures.samples, row.sample),
        "failures": charts.draw_failures(queries.list_paces(projection)),
        "account": account,
        "blocked": blocked,
        "payload": draw_masked(queries.find_payload(projection, blocked)) if blocked else None,
        "recent": list_recent(projection.name, source=NATIVE, limit=RECENT_SIZE),
        "pause": queries.find_pause(projection),
        "history": HistoryTable(queries.list_history(projection)),
        "supports_rebuild": projector is not None and projector.supports_rebuild,
        "is_installed": projector is not None,
        "live_url": request.path,
    }
    return render_page(request, "projections/projection.html", context, title=projection.name)


@require_safe
def list_skips(request: HtmxHttpRequest) -> HttpResponse:
    wanted = request.GET.get("projection", "")
    if wanted and not MAYBE_ID.fullmatch(wanted):
        raise BadRequest(
            f"projection is {wanted[:50]!r}; it can be a projection's number, as in its address."
        )
    projection = get_object_or_404(Projection, pk=wanted) if wanted else None
    page = get_page(queries.list_skips(projection.pk if projection else None), request.GET, by="at")
    context = {
        "page": page,
        "projection": projection,
        "table": SkipTable(page.rows, may_bring_back=may(request.user, "skip.bring_back")),
        "live_url": live_url(request, page),
    }
    return render_page(request, "projections/skips.html", context, title="Skipped events")


@require_safe
def list_requests(request: HtmxHttpRequest) -> HttpResponse:
    page = get_page(queries.list_requests(), request.GET, by="requested_at")
    context = {
        "page": page,
        "table": RequestTable(page.rows, may_decide=may(request.user, "projection.grant_rebuild")),
        "open_count": queries.count_open_requests(),
        "live_url": live_url(request, page),
    }
    return render_page(request, "projections/requests.html", context, title="Rebuild requests")
