"""The shell: live regions, dialogs, keys; test_every_page.py looks at all pages."""

from collections.abc import Callable
from pathlib import Path

from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from dashboard.models import AuditEntry, Heartbeat
from dashboard.workers.heartbeats import beat
from dashboard.workers.queries import QUEUES
from tests.processes import running_worker
from tests.tally.operations import start_tally

SignIn = Callable[[str], Page]


def test_a_page_follows_what_happens_without_a_reload(sign_in_as: SignIn, tmp_path: Path) -> None:
    page = sign_in_as("operator")
    run = start_tally(60, 60, slice=3, sleep=0.05)
    page.goto(f"/runs/{run.pk}/")
    expect(page.locator(".badge").first).to_have_text("Pending")
    page.evaluate("window.stillHere = true")
    with running_worker(tmp_path / "worker.log"):
        expect(page.locator(".badge").first).to_have_text("Finished", timeout=30_000)
    expect(page.get_by_text("120 of 120 dealt with")).to_be_visible()
    assert page.evaluate("window.stillHere")


def test_a_list_keeps_still_and_says_what_is_new(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.goto("/audit/")
    rows = page.locator("tbody tr").count()
    page.get_by_label("Who").fill("half a na")
    AuditEntry.objects.create(actor="olga", action="run.pause", outcome="succeeded")
    expect(page.get_by_text("1 new, show it")).to_be_visible()
    assert page.locator("tbody tr").count() == rows
    expect(page.get_by_label("Who")).to_have_value("half a na")
    expect(page.get_by_label("Who")).to_be_focused()


def test_a_run_is_cancelled_in_a_dialog_with_a_reason(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    run = start_tally(10)
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("link", name="Cancel…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    dialog.get_by_label("Reason").fill("asked for by mistake")
    dialog.get_by_role("button", name=f"Cancel run {run.pk}").click()
    expect(page.locator(".badge").first).to_have_text("Cancelled")
    assert AuditEntry.objects.get(action="run.cancel").reason == "asked for by mistake"


def test_whoever_waits_for_a_dialog_sees_that_it_is_on_its_way(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.goto(f"/runs/{start_tally(10).pk}/")
    waiting: list[Route] = []
    page.route("**/cancel/confirm/", lambda route: waiting.append(route))
    cancel = page.get_by_role("link", name="Cancel…")
    cancel.click()
    expect(cancel).to_have_css("cursor", "progress")
    waiting[0].continue_()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(cancel).not_to_have_css("cursor", "progress")


def test_a_dialog_is_left_with_escape_and_nothing_happens(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    run = start_tally(10)
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("link", name="Cancel…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    run.refresh_from_db()
    assert run.state == "pending"


def test_the_keys(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("r")
    page.wait_for_url("**/runs/")
    start_tally(5)
    page.reload()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/*/")


def test_an_ended_session_leads_to_the_login_and_back(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.goto("/runs/?state=active")
    Session.objects.all().delete()
    page.wait_for_url("**/login/?next=*")
    page.get_by_label("User name").fill("some-operator")
    page.get_by_label("Password").fill("a long password")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/runs/?state=active")


def test_the_tab_shows_how_many_things_need_a_person(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.goto("/workers/")
    # No beat, and no worker.
    expect(page).to_have_title("(2) Workers · Redrive production")
    for kind in (Heartbeat.Kind.WORKER, Heartbeat.Kind.BEAT, Heartbeat.Kind.REDIS):
        beat(kind, "here", started_at=timezone.now(), queues=[*QUEUES])
    expect(page).to_have_title("Workers · Redrive production")
    expect(page.locator("#favicon")).to_have_attribute("href", "/favicon.svg")


def test_a_command_to_be_copied_is_whole_on_a_narrow_screen(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.set_viewport_size({"width": 380, "height": 800})
    page.goto("/workers/")
    command = page.locator("pre.copied")
    expect(command).to_contain_text("-Q housekeeping")
    assert command.evaluate("pre => pre.scrollWidth <= pre.clientWidth")


def test_a_page_that_gets_no_answer_says_since_when(sign_in_as: SignIn) -> None:
    page = sign_in_as("operator")
    page.goto("/runs/")
    page.route("**/runs/**", lambda route: route.abort())
    expect(page.locator("#live-state")).to_contain_text("stale since")
    page.unroute("**/runs/**")
    expect(page.locator("#live-state")).to_have_text("live")


def test_without_javascript_everything_still_works(sign_in_as: SignIn, page: Page) -> None:
    sign_in_as("operator")
    run = start_tally(10)
    state = page.context.storage_state()
    bare = page.context.browser.new_context(java_script_enabled=False, storage_state=state)
    plain = bare.new_page()
    plain.goto(f"{page.url.rstrip('/')}/runs/{run.pk}/")
    plain.get_by_role("button", name="Pause").click()
    expect(plain.locator(".badge").first).to_have_text("Paused")
    plain.get_by_role("link", name="Cancel…").click()
    plain.get_by_label("Reason").fill("no need")
    plain.get_by_role("button", name=f"Cancel run {run.pk}").click()
    expect(plain.locator(".badge").first).to_have_text("Cancelled")
    bare.close()
