from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page
from sources import queries
from sources.operations import SourceRefused, import_again
from sources.tables import MovedTable, SourceTable
from sources.tokens.queries import list_reporters


@require_safe
def list_sources(request: HtmxHttpRequest) -> HttpResponse:
    rows = queries.list_rows()
    context = {
        "rows": rows,
        "troubled": [row for row in rows if row.health.needs_somebody],
        "table": SourceTable(rows),
        "reporters": list_reporters(),
        "live_url": request.path,
    }
    return render_page(request, "sources/sources.html", context, title="Sources")


@require_safe
def show_source(request: HtmxHttpRequest, name: str) -> HttpResponse:
    row = queries.get_row(name)
    context = {
        "row": row,
        "state": row.state,
        "moved": MovedTable(queries.list_moved(name)),
        "live_url": request.path,
    }
    return render_page(request, "sources/source.html", context, title=row.name)


@require_POST
@needs("source.import")
def start_import(request: HtmxHttpRequest, name: str) -> HttpResponse:
    queries.get_row(name)
    try:
        import_again(name, actor=request.user)
        messages.success(request, f"What is missing of {name} is imported by the next look.")
    except SourceRefused as error:
        messages.error(request, str(error))
    return redirect("sources:source", name=name)
