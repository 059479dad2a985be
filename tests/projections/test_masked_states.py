"""What the pages of a projection show of payloads, and of errors that repeat them, to those who may not unmask."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from dlq.api import Override, record_failure, set_override
from dlq.models import DeadLetter, LetterBody
from dlq.operations.edits import replace_payload
from projections.models import Event, Projection
from projections.operations import dead_letter_event, start_rebuild
from tests.dlq.replay.conftest import run_all
from tests.markup import read_html
from tests.projections.test_states import ASKED, show
from tests.shop.models import Fault

Pay = Callable[..., int]
Work = Callable[..., Projection]


def test_the_error_that_holds_it_up_shows_no_masked_value(
    viewer: Client, pay: Pay, work: Work, settings: Any
) -> None:
    settings.MASKED_PATHS = ["$.amount"]
    pay("a", 17, mark="x", how="ValueError")
    row = work("journal")
    assert row.tries[-1]["error_message"] == "amount 17 is not possible"
    for path in ("/", reverse("projections:projections"), reverse("projections:projection", args=[row.pk])):
        html = read_html(viewer.get(path))
        assert "amount ••• is not possible" in html
        assert "amount 17" not in html
    # Its letter has all of it, for those who may see that.
    dead_letter_event(row, 1, actor="ada", reason="")
    assert DeadLetter.objects.get().body.error_message == "amount 17 is not possible"


def test_who_decides_about_an_event_sees_what_the_handler_gets_of_it(
    admin: Client, pay: Pay, work: Work, settings: Any
) -> None:
    settings.MASKED_PATHS = ["$.amount"]
    pay("a", 17, mark="x<y", how="ValueError")
    row = work("journal")
    html = show(admin, "journal")
    assert '<li><b>mark</b>: <span class="json-text">&quot;x&lt;y&quot;</span></li>' in html
    assert '<li><b>amount</b>: <span class="json-text">&quot;•••&quot;</span></li>' in html
    event_id, given = (
        str(Event.objects.get().event_id),
        {"source": "native", "actor": "ada", "reason": "a typo"},
    )
    set_override(row.name, event_id, Override.Kind.REPLACED, payload={"mark": "z"}, **given)
    assert '<li><b>mark</b>: <span class="json-text">&quot;z&quot;</span></li>' in show(admin, "journal")
    cut = '<p class="dim">This is only a part; it is too large to be shown here as a whole.</p>'
    assert cut not in show(admin, "journal")
    set_override(row.name, event_id, Override.Kind.REPLACED, payload={"mark": "z" * 3_000}, **given)
    html = show(admin, "journal")
    assert f"{'z' * 1_999}…</span>" in html
    assert cut in html
    set_override(row.name, event_id, Override.Kind.REPLACED, payload={"mark": "z" * 300_000}, **given)
    assert "It is too large or too deep to be shown here." in show(admin, "journal")


def test_what_fails_in_a_rebuild_as_somebody_had_replaced_it_shows_no_masked_value(
    viewer: Client, pay: Pay, work: Work, settings: Any
) -> None:
    settings.MASKED_PATHS = ["$.amount"]
    pay("a", 5, mark="x", how="KeyError")
    row = work("letters")
    letter = DeadLetter.objects.get()
    replace_payload(letter, {"amount": 17, "mark": "x"}, actor="olga", reason="a typo")
    Fault.objects.update(how="ValueError")
    run_all(start_rebuild(row, **ASKED, request_key=uuid4()))
    html = read_html(viewer.get(reverse("dlq:letter", args=[letter.pk])))
    assert "amount ••• is not possible" in html
    assert "amount 17" not in html
    assert LetterBody.objects.get().payload["amount"] == 5


def test_recent_letters_say_nothing_that_was_masked_by_other_rules(viewer: Client, settings: Any) -> None:
    failed = {"source": "native", "consumer": "letters", "event_id": "e1", "error_type": "BillError"}
    record_failure(**failed, error_message="cannot bill alice@x.example", payload={"to": "alice@x.example"})
    assert "alice@x.example" in show(viewer, "letters")
    settings.MASKED_PATHS = ["$.to"]
    html = show(viewer, "letters")
    assert "BillError: hidden" in html
    assert "alice@x.example" not in html
