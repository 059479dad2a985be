from uuid import uuid4

from django.contrib import messages
from django.db.models import F
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page, saying_refusal
from sources.models import Token
from sources.tokens.forms import RevokeForm, TokenForm
from sources.tokens.operations import SourceNameError, TokenError, create_token, revoke_token
from sources.tokens.tables import TokenTable

# More than anybody has; those in use come first.
SHOWN = 500


@require_safe
@needs("token.create")
def list_tokens(request: HtmxHttpRequest) -> HttpResponse:
    return render_tokens(request, TokenForm(initial={"request_key": uuid4()}))


@require_POST
@needs("token.create")
def create(request: HtmxHttpRequest) -> HttpResponse:
    """The answer is the page itself, with the secret in it: it is kept nowhere, not even in a session."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return render_tokens(request, form.renew(), status=400)
    given = form.cleaned_data
    try:
        token, secret = create_token(
            given["source"], note=given["note"], request_key=given["request_key"], actor=request.user
        )
    except TokenError as error:
        form.add_error("source" if isinstance(error, SourceNameError) else None, str(error))
        return render_tokens(request, form.renew(), status=400)
    return render_tokens(request, TokenForm(initial={"request_key": uuid4()}), made=token, secret=secret)


@require_safe
@needs("token.revoke")
def confirm_revoke(request: HtmxHttpRequest, token_id: int) -> HttpResponse:
    return render_revoke(request, get_object_or_404(Token, pk=token_id), RevokeForm())


@require_POST
@needs("token.revoke")
def revoke(request: HtmxHttpRequest, token_id: int) -> HttpResponse:
    token = get_object_or_404(Token, pk=token_id)
    form = RevokeForm(request.POST)
    if not form.is_valid():
        return render_revoke(request, token, form, status=400)
    with saying_refusal(request, TokenError):
        revoke_token(token, actor=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, f"The {token} is revoked: whoever uses it is refused from now on.")
    return redirect("sources:tokens")


def render_tokens(
    request: HtmxHttpRequest,
    form: TokenForm,
    *,
    status: int = 200,
    made: Token | None = None,
    secret: str = "",
) -> HttpResponse:
    tokens = Token.objects.order_by(F("revoked_at").desc(nulls_first=True), "source", "-pk")[:SHOWN]
    context = {
        "table": TokenTable(tokens),
        "active_count": sum(token.revoked_at is None for token in tokens),
        "form": form,
        "made": made,
        "secret": secret,
    }
    return render_page(request, "sources/tokens.html", context, title="Tokens", status=status)


def render_revoke(
    request: HtmxHttpRequest, token: Token, form: RevokeForm, *, status: int = 200
) -> HttpResponse:
    context = {"token": token, "form": form}
    title = f"Revoke the {token}"
    return render_page(request, "sources/confirm_revoke.html", context, title=title, status=status)
