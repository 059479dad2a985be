from functools import partial
from typing import Any

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from breakers.needs import describe_open, find_open
from dashboard import overview_panels
from dashboard.attention import Need, list_attention
from dashboard.memo import Memo
from dashboard.models import Run
from dashboard.overview import charts
from dashboard.overview.figures import RANGES, Breakers, gather
from dashboard.overview.sentence import summarise
from dashboard.overview.tiles import list_tiles
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.quiet import find_quiet_since
from dashboard.runs import queries as runs
from dashboard.runs.queries import Progress
from dashboard.workers.queries import find_missing

# Many people may have this page open; what was true two seconds ago will do for all of them.
REMEMBERED_SECONDS = 2
SHOWN_RUNS = 5
SHOWN_PROJECTIONS = 5


@require_safe
def show_overview(request: HtmxHttpRequest) -> HttpResponse:
    name = request.GET.get("range", "24h")
    if name not in RANGES:
        raise BadRequest(f"range is {name!r}; it can be {' or '.join(RANGES)}.")
    known = recent_figures[name]()
    figures = known["figures"]
    attention = list_needs(figures.breakers)
    active = list(runs.list_runs("active").order_by("-id")[:SHOWN_RUNS])
    active_count = runs.count_active() if active else 0
    context = {
        "attention": attention,
        "quiet_since": None if attention else find_quiet_since(),
        "summary": summarise(figures, is_quiet=not attention),
        "tiles": list(list_tiles(figures, active, active_count, known["words"])),
        "panels": overview_panels.list_panels(request.user),
        "runs": describe_runs(active),
        **known,
        "live_url": request.get_full_path(),
    }
    return render_page(request, "overview.html", context, title="Overview")


def list_needs(breakers: Breakers) -> list[Need]:
    """As of now, since here they are the page itself; of Redis they say what the figures have just heard from it."""
    rows, found = breakers.rows, breakers.found
    return list_attention(
        {
            find_open: partial(describe_open, rows, found.count, found.known_count),
            find_missing: partial(find_missing, found.error),
        }
    )


def describe_runs(active: list[Run]) -> list[tuple[Run, Progress]]:
    progress = runs.get_progress(active) if active else {}
    return [(run, progress[run.pk]) for run in active]


def describe_figures(name: str) -> dict[str, Any]:
    wanted = RANGES[name]
    figures = gather(wanted)
    return {
        "range": name,
        "ranges": RANGES,
        "words": wanted.words,
        "figures": figures,
        "failures": charts.draw_failures(figures, wanted),
        "depth": charts.draw_depth(figures, wanted),
        "replays": charts.draw_replays(figures, wanted),
        "error_types": charts.share_error_types(figures.letters),
        "attempts": charts.share_attempts(figures.letters),
        "projections": figures.projections.all[:SHOWN_PROJECTIONS],
    }


recent_figures = {name: Memo(partial(describe_figures, name), REMEMBERED_SECONDS) for name in RANGES}


@require_POST
def dismiss_panel(request: HttpRequest, panel: str) -> HttpResponse:
    if not (request.user.is_authenticated and overview_panels.dismiss(request.user, panel)):
        raise Http404
    return redirect("overview")
