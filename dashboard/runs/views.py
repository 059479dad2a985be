from collections.abc import Callable

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.models import Run
from dashboard.pages import HtmxHttpRequest, render_page, saying_refusal
from dashboard.paging import get_page, live_url
from dashboard.runs import operations, queries
from dashboard.runs.kinds import find_panel
from dashboard.runs.states import RunStateError
from dashboard.runs.tables import RunEventTable, RunTable, find_tone

# The newest entries of a run's log that its page shows.
LOG_SIZE = 50


@require_safe
def list_runs(request: HtmxHttpRequest) -> HttpResponse:
    state = request.GET.get("state", "")
    if state not in ("", "active", *Run.State.values):
        raise BadRequest(f"state is {state!r}; it can be active or one of {', '.join(Run.State.values)}.")
    page = get_page(queries.list_runs(state), request.GET, by="created_at")
    table = RunTable(page.rows, progress=queries.get_progress(page.rows))
    context = {
        "page": page,
        "table": table,
        "state": state,
        "active_count": queries.count_active(),
        "paused_count": queries.count_paused(),
        "live_url": live_url(request, page),
    }
    return render_page(request, "runs/runs.html", context, title="Runs")


@require_safe
def show_run(request: HtmxHttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(Run, pk=run_id)
    panel = find_panel(run.kind)
    progress = queries.get_progress([run])[run.pk]
    known = {"tone": find_tone(run, progress)} | (panel.describe(run) if panel else {})
    context = known | {
        "run": run,
        "panel": panel.template if panel else "",
        "progress": progress,
        "pause": queries.find_pause(run),
        "table": RunEventTable(run.events.order_by("-id")[:LOG_SIZE], run=run, tone=known["tone"]),
        "live_url": request.path,
    }
    return render_page(request, "runs/run.html", context, title=f"Run {run.pk}")


@require_POST
@needs("run.pause")
def pause(request: HttpRequest, run_id: int) -> HttpResponse:
    return change(request, run_id, lambda run: operations.pause_run(run, actor=request.user))


@require_POST
@needs("run.resume")
def resume(request: HttpRequest, run_id: int) -> HttpResponse:
    return change(request, run_id, lambda run: operations.resume_run(run, actor=request.user))


@require_safe
@needs("run.cancel")
def confirm_cancel(request: HtmxHttpRequest, run_id: int) -> HttpResponse:
    run = get_object_or_404(Run, pk=run_id)
    context = {"run": run, "progress": queries.get_progress([run])[run.pk]}
    return render_page(request, "runs/confirm_cancel.html", context, title=f"Cancel run {run.pk}")


@require_POST
@needs("run.cancel")
def cancel(request: HttpRequest, run_id: int) -> HttpResponse:
    reason = request.POST.get("reason", "").strip()
    return change(request, run_id, lambda run: operations.cancel_run(run, actor=request.user, reason=reason))


def change(request: HttpRequest, run_id: int, operation: Callable[[Run], None]) -> HttpResponseRedirect:
    """Do it and go back to the run; if its state does not allow it, say so there."""
    run = get_object_or_404(Run, pk=run_id)
    with saying_refusal(request, RunStateError):
        operation(run)
    return redirect("runs:run", run_id=run.pk)
