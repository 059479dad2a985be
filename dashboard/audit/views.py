import json
from collections.abc import Iterator

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from dashboard import audit
from dashboard.access import needs
from dashboard.audit.filters import AuditFilter
from dashboard.audit.tables import AuditTable
from dashboard.exports import stream_rows, write_csv
from dashboard.models import AuditEntry
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.paging import get_page, live_url

COLUMNS = ("at", "actor", "action", "outcome", "subject", "reason", "details", "address")
# Rows fetched at a time.
CHUNK = 2_000


@require_safe
def list_entries(request: HtmxHttpRequest) -> HttpResponse:
    form = AuditFilter(request.GET)
    if not form.is_valid():
        return render_page(request, "audit/audit.html", {"form": form}, title="Audit", status=400)
    page = get_page(form.apply(), request.GET, by="at")
    context = {
        "form": form,
        "page": page,
        "table": AuditTable(page.rows),
        "live_url": live_url(request, page),
    }
    return render_page(request, "audit/audit.html", context, title="Audit")


@require_POST
@needs("audit.export")
def export(request: HtmxHttpRequest) -> HttpResponseBase:
    """Stream the filtered entries; the file is as long as the trail, so it is never held in memory."""
    form = AuditFilter(request.POST)
    if not form.is_valid():
        return render_page(request, "audit/audit.html", {"form": form}, title="Audit", status=400)
    filters = {name: value for name, value in request.POST.items() if name in form.fields and value}
    audit.record("audit.export", actor=request.user, filters=filters)
    name = f"audit-{timezone.localtime():%Y-%m-%d-%H%M}.csv"
    entries = stream_rows(form.apply().order_by("-at", "-id"), size=CHUNK)
    return StreamingHttpResponse(
        write_csv(COLUMNS, to_rows(entries)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def to_rows(entries: Iterator[AuditEntry]) -> Iterator[list[object]]:
    for entry in entries:
        row = {name: getattr(entry, name) for name in COLUMNS}
        row["at"] = entry.at.isoformat()
        row["details"] = json.dumps(entry.details) if entry.details else ""
        yield list(row.values())
