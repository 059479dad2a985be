from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase

from dashboard.memo import Memo
from demo.models import SeenStep
from demo.visit import PAGES

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# Who has seen what, so that a page that is looked at often is written down once.
known = Memo(set[tuple[int, str]], seconds=3600)


def note_steps(get_response: GetResponse) -> GetResponse:
    """Tick the steps of the guided visit that are pages, however somebody came to them."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        match = request.resolver_match
        name = PAGES.get(match.view_name) if match else None
        if name and response.status_code == 200 and request.user.is_authenticated:
            step = (request.user.pk, name)
            if step not in known():
                SeenStep.objects.bulk_create([SeenStep(user_id=step[0], name=name)], ignore_conflicts=True)
                known().add(step)
        return response

    return middleware
