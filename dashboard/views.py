"""What programs ask for: whether the console is alive and ready, and the tab's icon."""

from collections.abc import Callable

from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

from dashboard.redis import RedisError, get_redis
from dashboard.workers import queries as workers


@require_safe
@login_not_required
def healthz(request: HttpRequest) -> HttpResponse:
    """Alive: the process answers. It asks nobody else, so that a dead store does not restart the web."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@login_not_required
def readyz(request: HttpRequest) -> JsonResponse:
    """Ready: each part with its state, and 503 if any is missing."""
    states = {"postgres": probe(ask_postgres), "redis": probe(lambda: bool(get_redis().ping()))}
    if states["postgres"] == "ok":
        states["worker"] = probe(lambda: not workers.list_idle_queues(workers.list_heartbeats("worker")))
        states["beat"] = probe(workers.has_live_beat)
    else:
        # Heartbeats are in Postgres; asking again would only wait again.
        states |= {"worker": "unknown", "beat": "unknown"}
    ready = all(state == "ok" for state in states.values())
    response = JsonResponse({"ready": ready, **states}, status=200 if ready else 503)
    # Not being ready is an answer, and is asked for every second while the console starts: no error in the log.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def ask_postgres() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        return cursor.fetchone() is not None


def probe(ask: Callable[[], bool]) -> str:
    """`ok`, `silent` or `unreachable`; never the store's own message, which strangers may read here."""
    try:
        return "ok" if ask() else "silent"
    except (DatabaseError, RedisError):
        return "unreachable"


@require_safe
@login_not_required
@cache_control(max_age=86400, public=True)
def favicon(request: HttpRequest) -> HttpResponse:
    """The mark, with the number that needs attention (`?n=3`) in it."""
    number = request.GET.get("n", "0")[:3]
    context = {"number": min(int(number), 99) if number.isascii() and number.isdigit() else 0}
    return render(request, "favicon.svg", context, content_type="image/svg+xml")
