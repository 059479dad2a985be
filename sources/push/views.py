from django.contrib.auth.decorators import login_not_required
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from dlq.api import record_failures
from sources.push import limits
from sources.push.access import get_token
from sources.push.body import has_lines, read_body
from sources.push.errors import RefusedError
from sources.push.items import read_places
from sources.push.reading import read_all
from sources.push.schema import SCHEMA

AWAY = RefusedError(
    503,
    "The console's database does not answer. Send the request again: what was recorded of it stays as it is.",
    {"Retry-After": "10"},
)


# The token says who it is; a browser never sends it by itself, so nobody can be made to.
@csrf_exempt
@require_POST
@login_not_required
def push_failures(request: HttpRequest) -> JsonResponse:
    """202: what is counted is in Postgres; each of the others is named with the reason."""
    try:
        return take_failures(request)
    except RefusedError as error:
        return error.to_response()
    except (OperationalError, InterfaceError):
        return AWAY.to_response()


def take_failures(request: HttpRequest) -> JsonResponse:
    token = get_token(request)
    # Before the body is read: one that is nonsense costs too.
    limits.take(token, 1)
    is_lines = has_lines(request)
    read = read_all(read_places(read_body(request), is_lines=is_lines), token.source)
    if len(read.failures) > 1:
        limits.take(token, len(read.failures) - 1)
    record_failures(read.failures)
    status = 400 if read.refused and not read.taken_count else 202
    return JsonResponse({"recorded": read.taken_count, "refused": read.refused}, status=status)


@require_safe
def show_schema(request: HttpRequest) -> JsonResponse:
    return JsonResponse(SCHEMA, json_dumps_params={"indent": 2, "ensure_ascii": False})
