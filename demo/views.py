from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page, saying_refusal
from demo import operations, queries
from demo.operations import ShopError
from demo.stories import PLOTS


@require_safe
def show_shop(request: HtmxHttpRequest) -> HttpResponse:
    context = {"board": queries.get_board(), "live_url": request.path}
    return render_page(request, "demo/shop.html", context, title="Demo shop")


@require_POST
@needs("shop.deploy")
def deploy_fix(request: HttpRequest) -> HttpResponse:
    with saying_refusal(request, ShopError):
        shop = operations.deploy_fix(actor=request.user)
        messages.success(
            request, f"{shop.version} is deployed. What failed in the version before can be replayed."
        )
    return redirect("demo:shop")


@require_POST
@needs("shop.deploy")
def ship_bug(request: HttpRequest) -> HttpResponse:
    with saying_refusal(request, ShopError):
        shop = operations.ship_bug(actor=request.user)
        messages.success(request, f"{shop.version} is deployed. Orders in its new currency will fail.")
    return redirect("demo:shop")


@require_POST
@needs("shop.break")
def begin_story(request: HttpRequest, story: str) -> HttpResponse:
    if story not in PLOTS:
        raise Http404(f"There is no story {story!r}; there are {', '.join(PLOTS)}.")
    begun = operations.begin_story(story, actor=request.user)
    title, subject = PLOTS[story].title, f" ({begun.subject})" if begun.subject else ""
    messages.success(request, f"It has begun: {title[0].lower()}{title[1:]}{subject}.")
    return redirect("demo:shop")
