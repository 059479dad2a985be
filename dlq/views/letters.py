from dataclasses import replace

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.text import get_text_list
from django.views.decorators.http import require_POST, require_safe

from dashboard import audit
from dashboard.access import may, needs
from dashboard.pages import HtmxHttpRequest, render_page
from dashboard.paging import live_url
from dlq import queries
from dlq.exports import export_csv, export_ndjson
from dlq.filters import LetterFilter
from dlq.json_tree import Tree
from dlq.links import list_links
from dlq.masking import Masker
from dlq.models import DeadLetter
from dlq.models.words import UNSETTLED
from dlq.offers import Offers, find_offers
from dlq.queries.edit import find_replacement
from dlq.stacktrace import read_lines
from dlq.tables import LetterTable
from projections.api import NATIVE, describe_place, find_projector
from sources.api import describe_only_copy, describe_rows, why_not

EXPORTS = {
    "csv": (export_csv, "text/csv; charset=utf-8"),
    "ndjson": (export_ndjson, "application/x-ndjson"),
}
# The characters of a payload that is no JSON which a page shows, and those of any that it has ready to be copied.
MOST_TEXT, MOST_COPIED = 20_000, 200_000


@require_safe
def list_letters(request: HtmxHttpRequest) -> HttpResponse:
    form = LetterFilter(request.GET, user=request.user)
    facets = queries.list_facets()
    if not form.is_valid():
        return render_page(
            request, "dlq/letters.html", {"form": form, "facets": facets}, title="Letters", status=400
        )
    found = queries.list_letters(form, request.GET)
    count = queries.count_letters(form)
    # Where nobody counted, a list that was looked through and is empty still has its number.
    if count.number is None and queries.finds_none(found, request.GET):
        count = queries.Count(0, is_exact=True)
    live = queries.find_live_runs(letter.pk for letter in found.page.rows)
    context = {
        "form": form,
        "facets": facets,
        "page": found.page,
        "is_bounded": found.is_bounded,
        "count": count,
        "shows": form.shows,
        "is_narrowed": bool(form.wanted.keys() - {"status"}),
        # Of many sources some may allow what others do not; the confirmation says which.
        "offers": Offers("", why_not(form.cleaned_data["source"], "writes_status")),
        "table": LetterTable(
            found.page.rows,
            masker=form.masker,
            runs=live.by_letter,
            # Whoever can do nothing with letters selects none.
            exclude=() if may(request.user, "letter.resolve") else ("select",),
        ),
        "live": live,
        "live_url": live_url(request, found.page),
    }
    return render_page(request, "dlq/letters.html", context, title="Letters")


@require_safe
def show_letter(request: HtmxHttpRequest, letter_id: int) -> HttpResponse:
    """Masked values stay masked here even for those who may see them: showing them is an act of its own."""
    return render_letter(request, letter_id, Masker(AnonymousUser()), live_url=request.path)


@require_POST
@needs("payload.unmask")
def unmask(request: HtmxHttpRequest, letter_id: int) -> HttpResponse:
    detail = queries.get_letter(letter_id)
    audit.record("payload.unmask", actor=request.user, subject=detail.letter)
    return render_letter(request, letter_id, Masker(request.user), shows_masked=True)


def render_letter(
    request: HtmxHttpRequest,
    letter_id: int,
    masker: Masker,
    *,
    live_url: str = "",
    shows_masked: bool = False,
) -> HttpResponse:
    detail = queries.get_letter(letter_id)
    shown = masker.letter(detail.letter, queries.find_stored(detail.letter))
    offers = find_offers(detail.letter.source, detail.letter.consumer)
    if detail.letter.erased_at:
        offers = replace(offers, why_no_replay="Its payload was erased.")
    tree = Tree(shown.payload) if shown.payload is not None else None
    context = {
        "detail": detail,
        "letter": detail.letter,
        "shown": shown,
        "is_masked": not masker.is_unmasked,
        "shows_masked": shows_masked,
        "attempts": [(attempt, shown.text(attempt.error_message)) for attempt in detail.attempts],
        "trace": read_lines(shown.stacktrace),
        "tree": tree,
        "most_text": MOST_TEXT,
        "is_cut": tree.is_cut if tree else len(shown.payload_text) > MOST_TEXT,
        "can_copy": 0 < len(shown.payload_text) <= MOST_COPIED,
        # Else a replay would hand over something else than the page shows.
        "replacement": find_replacement(detail.letter),
        "links": list_links(detail.letter),
        "offers": offers,
        "only_copy": describe_only_copy(
            detail.letter.source, detail.letter.topic, detail.letter.first_failed_at
        ),
        "foreign": describe_rows(detail.letter.pk, is_open=detail.letter.status in UNSETTLED),
        "place": describe_checkpoint(detail.letter),
        # Only what a declared projection handles can be handled once more.
        "is_projected": detail.letter.source == NATIVE and find_projector(detail.letter.consumer) is not None,
        "live_url": live_url,
    }
    return render_page(request, "dlq/letter.html", context, title=f"Letter {detail.letter.pk}")


def describe_checkpoint(letter: DeadLetter) -> str:
    """Whether whoever runs its consumer will come to it by itself; empty: that is not known, or nobody needs to."""
    if letter.source == NATIVE or letter.status not in UNSETTLED:
        return ""
    return describe_place(letter.source, letter.consumer, event_id=letter.event_id, position=letter.position)


@require_safe
def find(request: HtmxHttpRequest) -> HttpResponse:
    """The permalink that an alert can write by itself: ?source=…&consumer=…&event_id=…"""
    missing = [name for name in ("source", "consumer", "event_id") if not request.GET.get(name)]
    if missing:
        raise BadRequest(f"The link lacks {get_text_list(missing, 'and')}.")
    letter = queries.find_letter(request.GET["source"], request.GET["consumer"], request.GET["event_id"])
    if letter is None:
        raise Http404
    return redirect("dlq:letter", letter_id=letter.pk)


@require_safe
def download_payload(request: HtmxHttpRequest, letter_id: int) -> HttpResponse:
    """The whole payload as the page would show it, however long it is."""
    letter = queries.get_letter(letter_id).letter
    shown = Masker(AnonymousUser()).letter(letter, queries.find_stored(letter))
    return as_file(shown.payload_text, f"letter-{letter.pk}.txt")


@require_POST
@needs("payload.unmask")
def download_raw(request: HtmxHttpRequest, letter_id: int) -> HttpResponse:
    """The event's own bytes, with nothing masked."""
    letter = queries.get_letter(letter_id).letter
    audit.record("payload.unmask", actor=request.user, subject=letter, download=True)
    shown = Masker(request.user).letter(letter, queries.find_stored(letter))
    return as_file(shown.original.raw or shown.payload_text, f"letter-{letter.pk}.bin")


def as_file(content: str | bytes, name: str) -> HttpResponse:
    """Always a download of plain bytes: what came from outside must not be shown as a page of ours."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(content, content_type="application/octet-stream", headers=headers)


@require_safe
@needs("letter.export")
def export(request: HtmxHttpRequest) -> HttpResponseBase:
    """Stream all that match the filter, as CSV or NDJSON."""
    form = LetterFilter(request.GET, user=request.user)
    kind = request.GET.get("format", "csv")
    if kind not in EXPORTS:
        raise BadRequest(f"format is {kind!r}; it can be {', '.join(EXPORTS)}.")
    if not form.is_valid():
        raise BadRequest(f"The filter is wrong. {form.problem}")
    audit.record(
        "letter.export",
        actor=request.user,
        filter=form.describe(),
        format=kind,
        unmasked=form.masker.is_unmasked,
    )
    write, content_type = EXPORTS[kind]
    headers = {"Content-Disposition": f'attachment; filename="letters.{kind}"'}
    return StreamingHttpResponse(write(form), content_type=content_type, headers=headers)
