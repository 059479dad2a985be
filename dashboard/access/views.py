from django.conf import settings
from django.contrib import auth, messages
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render, resolve_url
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from dashboard import audit
from dashboard.access import needs, operations, roles, throttle
from dashboard.access.forms import ReasonForm, RoleForm
from dashboard.access.operations import AccessError
from dashboard.access.tables import UserTable
from dashboard.addresses import client_address, current_address, is_loopback
from dashboard.login_links import find_link, redeem_link
from dashboard.models import AuditEntry
from dashboard.pages import HtmxHttpRequest, render_page, saying_refusal

# A list of names is one event, and its beginning tells what it is.
MOST_REFUSALS_NOTED = 10


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@login_not_required
def login(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render_login(request, AuthenticationForm(request))
    attempt = throttle.note_attempt(request.POST.get("username", ""), client_address(request) or "0.0.0.0")  # noqa: S104
    if throttle.is_throttled(attempt):
        attempt.delete()
        note_refusal(attempt.username or "nobody")
        form = AuthenticationForm(request, initial={"username": request.POST.get("username", "")})
        response = render_login(request, form, is_throttled=True, status=429)
        response["Retry-After"] = str(int(throttle.WINDOW.total_seconds()))
        return response
    form = AuthenticationForm(request, data=request.POST)
    if not form.is_valid():
        return render_login(request, form, status=401)
    attempt.delete()
    sign_in(request, form.get_user())
    return redirect(next_page(request))


@require_http_methods(["GET", "HEAD", "POST"])
@login_not_required
def login_link(request: HttpRequest, token: str) -> HttpResponse:
    """GET shows a button, so that a link preview does not use the link up; POST redeems it."""
    if not settings.EMBEDDED or not is_loopback(request):
        raise Http404
    if request.method != "POST":
        return render(request, "access/login_link.html", {"link": find_link(token)})
    user = redeem_link(token)
    if user is None:
        return render(request, "access/login_link.html", {"link": None}, status=410)
    sign_in(request, user)
    return redirect("overview")


@require_POST
@login_not_required
def logout(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        audit.record("session.end", actor=request.user)
    auth.logout(request)
    return redirect("login")


@require_safe
@needs("user.assign_role")
def list_users(request: HtmxHttpRequest) -> HttpResponse:
    users = User.objects.prefetch_related("groups").order_by("username")[:500]
    context = {"table": UserTable(users, request=request)}
    return render_page(request, "access/users.html", context, title="Users")


@require_safe
@needs("user.assign_role")
def confirm_assign_role(request: HtmxHttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    return render_confirm(request, "role", user, RoleForm(role=roles.get_role(user)))


@require_POST
@needs("user.assign_role")
def assign_role(request: HtmxHttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    form = RoleForm(request.POST, role=roles.get_role(user))
    if not form.is_valid():
        return render_confirm(request, "role", user, form, status=400)
    role, reason = form.cleaned_data["role"], form.cleaned_data["reason"]
    with saying_refusal(request, AccessError):
        operations.assign_role(user, role, actor=request.user, reason=reason)
        messages.success(request, f"{user.username} has the role {role} now.")
    return redirect("users")


@require_safe
@needs("user.disable")
def confirm_disable(request: HtmxHttpRequest, user_id: int) -> HttpResponse:
    return render_confirm(request, "disable", get_object_or_404(User, pk=user_id), ReasonForm())


@require_POST
@needs("user.disable")
def disable(request: HtmxHttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return render_confirm(request, "disable", user, form, status=400)
    with saying_refusal(request, AccessError):
        operations.disable_user(user, actor=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, f"{user.username} may no longer sign in, and is signed out.")
    return redirect("users")


@require_safe
@needs("user.enable")
def confirm_enable(request: HtmxHttpRequest, user_id: int) -> HttpResponse:
    return render_confirm(request, "enable", get_object_or_404(User, pk=user_id), ReasonForm())


@require_POST
@needs("user.enable")
def enable(request: HtmxHttpRequest, user_id: int) -> HttpResponse:
    user = get_object_or_404(User, pk=user_id)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return render_confirm(request, "enable", user, form, status=400)
    with saying_refusal(request, AccessError):
        operations.enable_user(user, actor=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, f"{user.username} may sign in again.")
    return redirect("users")


def render_confirm(
    request: HtmxHttpRequest, verb: str, user: User, form: ReasonForm, *, status: int = 200
) -> HttpResponse:
    # What is wrong, or else what must be written.
    form.fields[next(iter(form.errors), "reason")].widget.attrs["autofocus"] = True
    context = {"person": user, "role": roles.get_role(user), "form": form}
    title = f"Role of {user.username}" if verb == "role" else f"{verb.capitalize()} {user.username}"
    return render_page(request, f"access/confirm_{verb}.html", context, title=title, status=status)


def render_login(
    request: HttpRequest, form: AuthenticationForm, *, is_throttled: bool = False, status: int = 200
) -> HttpResponse:
    context = {"form": form, "is_throttled": is_throttled, "next": next_page(request)}
    return render(request, "access/login.html", context, status=status)


def note_refusal(username: str) -> None:
    """Once a window for each name, and for some names of an address: strangers must not be able to fill the trail."""
    since = timezone.now() - throttle.WINDOW
    noted = AuditEntry.objects.filter(action="session.refuse", at__gt=since)
    from_here = noted.filter(address=current_address())[:MOST_REFUSALS_NOTED].count()
    if from_here < MOST_REFUSALS_NOTED and not noted.filter(actor=username).exists():
        audit.record("session.refuse", actor=username, outcome=AuditEntry.Outcome.FAILED)


def sign_in(request: HttpRequest, user: User) -> None:
    auth.login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    audit.record("session.start", actor=user, role=roles.get_role(user))


def next_page(request: HttpRequest) -> str:
    """Where the visitor wanted to go, if that is on this console."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else resolve_url("overview")
