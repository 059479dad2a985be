"""The console's own URLs and one more, which starts a run as a section's verb would."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.views.decorators.http import require_POST

from dashboard.access import needs
from dashboard.urls import handler400, handler403, handler404, handler500, urlpatterns
from tests.tally.operations import start_tally

__all__ = ["handler400", "handler403", "handler404", "handler500"]


@require_POST
@needs("tally.start")
def start(request: HttpRequest) -> HttpResponse:
    run = start_tally(20, 20, actor=request.user, request_key=request.POST["request_key"])
    return redirect("runs:run", run_id=run.pk)


urlpatterns = [*urlpatterns, path("tally/start/", start, name="start_tally")]
