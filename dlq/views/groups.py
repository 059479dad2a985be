from django import forms
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import needs
from dashboard.pages import HtmxHttpRequest, render_page
from dlq import operations, queries
from dlq.charts import draw_hours
from dlq.classification import Verdict
from dlq.forms import MUTE_FOR, AssignForm, MuteForm, NoteForm, TicketForm
from dlq.masking import Masker
from dlq.models import FailureGroup
from dlq.models.words import Category
from dlq.offers import find_offers
from dlq.tables import GroupTable

# What a tab says that has no group.
EMPTY = {
    "open": "Nothing is open",
    "new": "No group is new today",
    "regressed": "No group has regressed",
    "poison": "No group has a poison letter",
    "muted": "No group is muted",
    "closed": "No group is closed",
}


@require_safe
def list_groups(request: HtmxHttpRequest) -> HttpResponse:
    tab = request.GET.get("tab", "open")
    if tab not in queries.TABS:
        raise BadRequest(f"tab is {tab!r}; it can be {', '.join(queries.TABS)}.")
    page, counts = queries.list_groups(tab, request.GET.get("after", "")), queries.count_tabs()
    context = {
        "page": page,
        "table": GroupTable(page.rows, masker=Masker(request.user)),
        "tab": tab,
        "tabs": queries.TABS,
        "counts": counts,
        "muted_count": counts["with_open"] - counts["open"],
        "empty": EMPTY[tab],
        "totals": queries.open_totals(),
        "live_url": request.get_full_path(),
    }
    return render_page(request, "dlq/groups.html", context, title="Dead letters")


@require_safe
def show_group(request: HtmxHttpRequest, group_id: int) -> HttpResponse:
    return render_group(request, group_id)


def render_group(request: HtmxHttpRequest, group_id: int, *, wrong: forms.Form | None = None) -> HttpResponse:
    """The group; after a wrong change with the reason beside its field, and not live, so that the reason stays."""
    detail = queries.get_group(group_id)
    masker, nobody = Masker(request.user), Masker(AnonymousUser())
    title = masker.heading(detail.group, detail.row.example)
    offers_replay = all(letter.offers_replay for letter in detail.samples[:1])
    context = {
        "detail": detail,
        "group": detail.group,
        "heading": title,
        "title_without_values": masker.title(detail.group),
        "advice": Verdict(Category(detail.group.category), "", offers_replay).advice,
        "chart": draw_hours(detail.histogram, detail.group.category),
        # Masked for everybody: seeing more is an act of its own, on the letter's page.
        "samples": [nobody.letter(letter) for letter in detail.samples],
        "elsewhere": GroupTable(
            detail.elsewhere, masker=masker, exclude=("versions", "assignee", "blocked", "first_at")
        ),
        "runbook": queries.find_runbook(detail),
        "mute_for": MUTE_FOR,
        "offers": find_offers(detail.group.source, detail.group.consumer),
        "live": queries.find_group_runs(detail.group),
        "wrong": wrong,
        "live_url": "" if wrong else request.path,
    }
    status = 400 if wrong else 200
    return render_page(request, "dlq/group.html", context, title=title, status=status)


@require_POST
@needs("group.assign")
def assign(request: HtmxHttpRequest, group_id: int) -> HttpResponse:
    group, form = get_object_or_404(FailureGroup, pk=group_id), AssignForm(request.POST)
    if not form.is_valid():
        return render_group(request, group_id, wrong=form)
    operations.assign_group(group, assignee=form.cleaned_data["assignee"], actor=request.user)
    return redirect("dlq:group", group_id=group_id)


@require_POST
@needs("group.mute")
def mute(request: HtmxHttpRequest, group_id: int) -> HttpResponse:
    group, form = get_object_or_404(FailureGroup, pk=group_id), MuteForm(request.POST)
    if not form.is_valid():
        return render_group(request, group_id, wrong=form)
    operations.mute_group(group, until=form.until, actor=request.user, reason=form.cleaned_data["reason"])
    return redirect("dlq:group", group_id=group_id)


@require_POST
@needs("group.unmute")
def unmute(request: HttpRequest, group_id: int) -> HttpResponse:
    operations.unmute_group(get_object_or_404(FailureGroup, pk=group_id), actor=request.user)
    return redirect("dlq:group", group_id=group_id)


@require_POST
@needs("group.note")
def note(request: HtmxHttpRequest, group_id: int) -> HttpResponse:
    group, form = get_object_or_404(FailureGroup, pk=group_id), NoteForm(request.POST)
    if not form.is_valid():
        return render_group(request, group_id, wrong=form)
    operations.note_group(group, note=form.cleaned_data["note"], actor=request.user)
    return redirect("dlq:group", group_id=group_id)


@require_POST
@needs("group.ticket")
def ticket(request: HtmxHttpRequest, group_id: int) -> HttpResponse:
    group, form = get_object_or_404(FailureGroup, pk=group_id), TicketForm(request.POST)
    if not form.is_valid():
        return render_group(request, group_id, wrong=form)
    operations.link_ticket(group, ticket=form.cleaned_data["ticket"], actor=request.user)
    return redirect("dlq:group", group_id=group_id)
