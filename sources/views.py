from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page, saying_refusal
from dashboard.words import counted
from sources import queries
from sources.forms import ReleaseForm
from sources.inspection import why_not
from sources.models import Token
from sources.operations import SourceRefused, import_again, release_rows
from sources.orphans import find_orphans
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
        "orphans": find_orphans(name),
        "moved": MovedTable(queries.list_moved(name)),
        "has_tokens": Token.objects.filter(source=name, revoked_at=None).exists(),
        "live_url": request.path,
    }
    return render_page(request, "sources/source.html", context, title=row.name)


@require_POST
@needs("source.import")
def start_import(request: HtmxHttpRequest, name: str) -> HttpResponse:
    queries.get_row(name)
    with saying_refusal(request, SourceRefused):
        import_again(name, actor=request.user)
        messages.success(request, f"The next look imports what is missing from {name}.")
    return redirect("sources:source", name=name)


@require_safe
@needs("source.release")
def confirm_release(request: HtmxHttpRequest, name: str) -> HttpResponse:
    queries.get_row(name)
    return render_release(request, name)


@require_POST
@needs("source.release")
def release(request: HtmxHttpRequest, name: str) -> HttpResponse:
    queries.get_row(name)
    form = ReleaseForm(request.POST)
    if not form.is_valid():
        return render_release(request, name, form, status=400)
    given = form.cleaned_data
    try:
        release_rows(
            name,
            until=given["until"],
            confirmed=given["count"],
            actor=request.user,
            reason=given["reason"],
        )
    except SourceRefused as error:
        return render_release(request, name, problem=str(error), reason=given["reason"], status=409)
    messages.success(
        request, f"{counted(given['count'], 'row')} of {name} will be released by the next look."
    )
    return redirect("sources:source", name=name)


def render_release(
    request: HtmxHttpRequest,
    name: str,
    form: ReleaseForm | None = None,
    *,
    problem: str = "",
    reason: str = "",
    status: int = 200,
) -> HttpResponse:
    """With the numbers as they are now."""
    orphans = find_orphans(name)
    context: dict[str, Any] = {
        "name": name,
        "orphans": orphans,
        "why_not": why_not(name, "writes_status"),
        "form": form or ReleaseForm(initial={"reason": reason}),
        "problem": problem,
    }
    title = f"Release rows of {name}"
    return render_page(request, "sources/confirm_release.html", context, title=title, status=status)
