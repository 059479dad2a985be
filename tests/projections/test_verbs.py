"""Every verb: it works, it rejects GET, a viewer may not, twice is once, it is audited."""

import re
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import AuditEntry, Run
from dashboard.paging import write_cursor
from dlq.models import DeadLetter, Override
from projections.models import ForeignProjection, Projection, RebuildRequest, Skip
from projections.requests import expire
from projections.views.confirm import Confirmation

Pay = Callable[..., int]
Work = Callable[..., Projection]
Positions = Callable[[str], list[int]]


@pytest.fixture
def stopped(pay: Pay, work: Work) -> Projection:
    """A projection that has stopped at position 2, and may skip."""
    pay("a", 1)
    pay("b", 2, mark="x", how="ValueError")
    pay("b", 3)
    Projection.objects.filter(name="journal").update(criticality="standard")
    return work("journal")


def post(client: Client, verb: str, pk: int, **fields: object) -> int:
    response = client.post(reverse(f"projections:{verb}", args=[pk]), fields)
    return response.status_code


def audited(action: str, outcome: str = "succeeded") -> int:
    return AuditEntry.objects.filter(action=action, outcome=outcome).count()


ON_PROJECTIONS = ["pause", "resume", "skip", "dead_letter", "reset", "rebuild", "request_rebuild"]


@pytest.mark.parametrize("verb", ON_PROJECTIONS)
def test_a_verb_rejects_get_and_a_viewer_may_not(admin: Client, viewer: Client, verb: str) -> None:
    row = Projection.objects.get(name="journal")
    assert admin.get(reverse(f"projections:{verb}", args=[row.pk])).status_code == 405
    assert post(viewer, verb, row.pk) == 403


@pytest.mark.parametrize(
    "verb", [verb for verb in ON_PROJECTIONS if verb not in ("resume", "request_rebuild", "reset")]
)
def test_a_verb_is_confirmed_on_a_page_that_says_what_follows(
    admin: Client, stopped: Projection, verb: str
) -> None:
    html = admin.get(reverse(f"projections:confirm_{verb}", args=[stopped.pk])).content.decode()
    assert "journal" in html
    assert 'name="reason"' in html


NEED_A_REASON = [verb for verb in ON_PROJECTIONS if verb != "resume"]


@pytest.mark.parametrize("verb", NEED_A_REASON)
@pytest.mark.parametrize(
    ("reason", "sentence"), [(" ", "reason is missing"), ("x" * 501, "reason has 501 characters")]
)
def test_a_verb_that_is_confirmed_needs_a_reason(
    admin: Client, stopped: Projection, verb: str, reason: str, sentence: str
) -> None:
    fields = {"position": 2, "was_at": 1, "typed": "journal", "request_key": uuid4(), "reason": reason}
    answer = admin.post(reverse(f"projections:{verb}", args=[stopped.pk]), fields)
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not AuditEntry.objects.filter(action__startswith="projection.").exists()


def test_a_reset_at_another_system_needs_a_reason(admin: Client) -> None:
    row = ForeignProjection.objects.create(source="orders", name="totals")
    fields = {"typed": "totals", "request_key": uuid4()}
    answer = admin.post(reverse("projections:foreign_reset", args=[row.pk]), fields)
    assert (answer.status_code, "reason is missing" in answer.content.decode()) == (400, True)
    assert not Run.objects.exists()


def test_pause_and_resume(operator: Client, stopped: Projection, pay: Pay, work: Work) -> None:
    row = work("letters")
    assert post(operator, "pause", row.pk, reason="a migration") == 302
    pay("c", 4)
    assert work("letters").position == row.position
    post(operator, "pause", row.pk, reason="again")
    assert (audited("projection.pause"), audited("projection.pause", "failed")) == (1, 1)
    post(operator, "resume", row.pk)
    assert work("letters").position == row.position + 1
    assert AuditEntry.objects.get(action="projection.pause", outcome="succeeded").reason == "a migration"


def test_resume_tries_the_blocking_event_again(operator: Client, stopped: Projection, work: Work) -> None:
    from tests.shop.models import Fault

    post(operator, "resume", stopped.pk)
    page = operator.get(reverse("projections:projection", args=[stopped.pk])).content.decode()
    assert "journal tries again from its checkpoint; if that fails too, it says so here." in page
    assert work("journal").state == "stopped"
    Fault.objects.all().delete()
    post(operator, "resume", stopped.pk)
    assert (work("journal").state, work("journal").position) == ("running", 3)


def test_a_paused_projection_says_who_paused_it_and_why(operator: Client, viewer: Client, work: Work) -> None:
    row = work("letters")
    post(operator, "pause", row.pk, reason="the index <moves>")
    address = reverse("projections:projection", args=[row.pk])
    page = operator.get(address).content.decode()
    assert "Paused by some-operator" in page
    assert "the index &lt;moves&gt;" in page
    assert "Resume letters" in page
    assert "Resume letters" not in viewer.get(address).content.decode()


def test_skip_goes_past_the_event_with_a_reason_on_record(
    operator: Client, stopped: Projection, work: Work, applied: Positions
) -> None:
    post(operator, "skip", stopped.pk, position=2, reason="a test order")
    post(operator, "skip", stopped.pk, position=2, reason="a test order")
    row = work("journal")
    assert (row.position, row.state, applied("journal")) == (3, "running", [1, 3])
    assert (Skip.objects.get().actor, Skip.objects.get().reason) == ("some-operator", "a test order")
    assert Override.objects.get().kind == "skipped"
    assert audited("projection.skip") == 1


def test_a_ledger_may_not_be_skipped(operator: Client, stopped: Projection, work: Work) -> None:
    Projection.objects.filter(name="journal").update(criticality="ledger")
    post(operator, "skip", stopped.pk, position=2, reason="please")
    assert work("journal").position == 1
    assert audited("projection.skip", "failed") == 1


def test_dead_letter_parks_the_stream_and_goes_on(
    operator: Client, stopped: Projection, work: Work, applied: Positions
) -> None:
    post(operator, "dead_letter", stopped.pk, position=2, reason="look at it tomorrow")
    post(operator, "dead_letter", stopped.pk, position=2, reason="look at it tomorrow")
    assert (work("journal").state, applied("journal")) == ("running", [1])
    found = DeadLetter.objects.order_by("position").values_list("position", "status", "attempts")
    assert list(found) == [(2, "failed", 1), (3, "parked", 0)]
    assert audited("projection.dead_letter") == 1


def test_a_click_on_an_event_that_no_longer_blocks_does_nothing(
    operator: Client, stopped: Projection, work: Work
) -> None:
    post(operator, "dead_letter", stopped.pk, position=1, reason="late")
    assert work("journal").position == 1
    assert not DeadLetter.objects.exists()


def test_a_skipped_event_comes_back_as_a_letter(
    operator: Client, viewer: Client, stopped: Projection, work: Work
) -> None:
    post(operator, "skip", stopped.pk, position=2, reason="a test order")
    work("journal")
    skip = Skip.objects.get()
    assert post(viewer, "bring_back", skip.pk) == 403
    assert post(operator, "bring_back", skip.pk) == 400
    assert post(operator, "bring_back", skip.pk, reason="it was a real one") == 302
    assert post(operator, "bring_back", skip.pk, reason="it was a real one") == 404
    assert (DeadLetter.objects.get().position, DeadLetter.objects.get().status) == (2, "failed")
    assert not Override.objects.exists()
    assert audited("skip.bring_back") == 1


def test_a_rebuild_needs_the_typed_name_and_a_double_click_is_one_run(
    admin: Client, operator: Client, stopped: Projection
) -> None:
    key = uuid4()
    assert post(operator, "rebuild", stopped.pk, typed="journal", request_key=key) == 403
    post(admin, "rebuild", stopped.pk, typed="jornal", reason="drift", request_key=key)
    assert not Run.objects.exists()
    for _ in range(2):
        post(admin, "rebuild", stopped.pk, typed="journal", reason="drift", request_key=key)
    run = Run.objects.get()
    assert (run.kind, run.reason, run.options["events"]) == ("rebuild", "drift", 3)
    post(admin, "rebuild", stopped.pk, typed="journal", reason="drift", request_key=uuid4())
    assert Run.objects.count() == 1
    assert audited("projection.rebuild", "failed") == 1


@pytest.mark.parametrize(
    ("target", "position", "sentence"),
    [
        ("to=start", 0, "goes back from 1 to 0: 1 event of its types is handled again, and so is"),
        ("to=position&position=1", 1, "journal stays at 1, and"),
        (
            "to=time&time=2999-01-01T00:00",
            3,
            "2 events of its types are never handled. No letter tells of them.",
        ),
    ],
)
def test_reset_counts_what_follows_and_then_does_it(
    admin: Client, stopped: Projection, target: str, position: int, sentence: str
) -> None:
    page = admin.get(f"{reverse('projections:confirm_reset', args=[stopped.pk])}?{target}").content.decode()
    assert sentence in page
    assert f'name="position" value="{position}"' in page
    given = {"position": position, "was_at": 1, "reason": "again", "request_key": uuid4()}
    post(admin, "reset", stopped.pk, **given)
    assert not Run.objects.exists()
    for _ in range(2):
        post(admin, "reset", stopped.pk, **given, typed="journal")
    assert list(Run.objects.values_list("options__position", "reason")) == [(position, "again")]


def test_reset_asks_first_where_to(admin: Client, stopped: Projection) -> None:
    page = admin.get(reverse("projections:confirm_reset", args=[stopped.pk])).content.decode()
    assert "Where should journal go on?" in page
    assert "time (UTC)" in page


def test_a_ledger_may_not_leave_out_events(admin: Client, stopped: Projection) -> None:
    Projection.objects.update(criticality="ledger")
    response = admin.get(f"{reverse('projections:confirm_reset', args=[stopped.pk])}?to=position&position=2")
    assert (response.status_code, "is a ledger" in response.content.decode()) == (409, True)
    given = {"was_at": 1, "typed": "journal", "reason": "go", "request_key": uuid4()}
    post(admin, "reset", stopped.pk, **given, position=2)
    assert not Run.objects.exists()
    assert audited("projection.reset", "failed") == 1
    post(admin, "reset", stopped.pk, **given, position=0)
    assert Run.objects.exists()


@pytest.mark.parametrize(
    "target", ["to=position", "to=position&position=x", "to=time&time=soon", "to=position&position=-1"]
)
def test_a_reset_to_nonsense_is_refused(admin: Client, stopped: Projection, target: str) -> None:
    assert admin.get(f"{reverse('projections:confirm_reset', args=[stopped.pk])}?{target}").status_code == 400
    assert post(admin, "reset", stopped.pk, request_key=uuid4(), position="x") == 400


def test_a_name_that_is_typed_wrong_is_held_back_by_the_browser() -> None:
    typed = Confirmation("Rebuild?", [], "/", "Rebuild", "/", typed="a.b-c/d (e)").typed_pattern
    assert typed == r"\s*a\.b-c\/d \(e\)\s*"
    assert re.fullmatch(typed, " a.b-c/d (e) ")


def test_a_rebuild_that_has_yet_to_begin_is_named_on_the_page(admin: Client, stopped: Projection) -> None:
    post(admin, "rebuild", stopped.pk, typed="journal", reason="drift", request_key=uuid4())
    run = Run.objects.get()
    page = admin.get(reverse("projections:projection", args=[stopped.pk])).content.decode()
    assert f"Run {run.pk}</a> ({run.title}) is pending." in page


def test_every_page_of_requests_says_how_many_are_open(
    operator: Client, admin: Client, stopped: Projection
) -> None:
    post(operator, "request_rebuild", stopped.pk, reason="the totals are off")
    asked = RebuildRequest.objects.get()
    first = reverse("projections:requests")
    for address in (first, f"{first}?after={quote(write_cursor(asked, 'requested_at'))}"):
        page = admin.get(address).content.decode()
        assert "1 rebuild is asked for" in page
        assert "Nobody has asked for a rebuild" not in page
    assert f'No request is on this page</strong><p><a href="{first}">Go to the first page</a>' in page
    post(admin, "deny", asked.pk, reason="not tonight")
    said = admin.get(reverse("projections:requests")).content.decode()
    assert "The rebuild of journal is denied; nothing was changed." in said
    assert "No rebuild is asked for" in said


def test_a_request_is_granted_by_somebody_else(operator: Client, admin: Client, stopped: Projection) -> None:
    for _ in range(2):
        post(operator, "request_rebuild", stopped.pk, reason="the totals are off")
    asked = RebuildRequest.objects.get()
    for verb in ("confirm_grant", "confirm_deny"):
        page = admin.get(reverse(f"projections:{verb}", args=[asked.pk])).content.decode()
        assert "<p>some-operator asks: the totals are off.</p>" in page
    assert post(operator, "grant", asked.pk, typed="journal", request_key=uuid4()) == 403
    assert post(admin, "grant", asked.pk, typed="journal", request_key=uuid4()) == 400
    assert post(admin, "deny", asked.pk) == 400
    post(admin, "grant", asked.pk, typed="journal", reason="go on", request_key=uuid4())
    asked.refresh_from_db()
    assert (asked.state, asked.decided_by, asked.run) == ("granted", "some-admin", Run.objects.get())
    assert "asked for by some-operator" in Run.objects.get().reason
    post(admin, "deny", asked.pk, reason="too late")
    asked.refresh_from_db()
    assert asked.state == "granted"
    assert (audited("projection.request_rebuild"), audited("projection.grant_rebuild")) == (1, 1)


def test_a_request_is_denied_or_expires(operator: Client, admin: Client, stopped: Projection) -> None:
    post(operator, "request_rebuild", stopped.pk, reason="the totals are off")
    post(admin, "deny", RebuildRequest.objects.get().pk, reason="not in office hours")
    assert RebuildRequest.objects.get().state == "denied"
    post(operator, "request_rebuild", stopped.pk, reason="now")
    RebuildRequest.objects.filter(state="open").update(expires_at=timezone.now() - timedelta(seconds=1))
    late = RebuildRequest.objects.get(state="open")
    post(admin, "grant", late.pk, typed="journal", reason="go on", request_key=uuid4())
    assert not Run.objects.exists()
    expire()
    late.refresh_from_db()
    assert late.state == "expired"
