from django.http import HttpResponse
from django.views.decorators.http import require_safe

from dashboard.models import Heartbeat
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.workers import queries
from dashboard.workers.tables import HeartbeatTable

Kind = Heartbeat.Kind


@require_safe
def list_workers(request: HtmxHttpRequest) -> HttpResponse:
    heartbeats = queries.list_heartbeats(Kind.WORKER, Kind.BEAT, Kind.CONSUMER)
    redis = queries.get_redis_state()
    takers = queries.find_takers(heartbeats)
    context = {
        "missing": list(queries.find_missing(redis.error)),
        "table": HeartbeatTable(heartbeats),
        "alive_count": sum(not queries.is_silent(heartbeat) for heartbeat in heartbeats),
        "starts": queries.list_starts(heartbeats),
        "redis": redis,
        "queues": [(queue, takers[queue.name]) for queue in redis.queues],
        "live_url": request.path,
    }
    return render_page(request, "workers/workers.html", context, title="Workers")
