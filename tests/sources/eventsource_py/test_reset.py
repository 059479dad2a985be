"""Taking back a checkpoint of a real application: not while its worker runs, and not without looking afterwards."""

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEntry, Run
from projections.foreign.reset import reset_there
from projections.models import ForeignProjection
from tests.dlq.replay.conftest import run_all, totals
from tests.sources.eventsource_py.application import Orders
from tests.sources.eventsource_py.test_checkpoints import make_old

Look = Callable[..., ForeignProjection]


def reset(client: Client, row: ForeignProjection, **changes: Any) -> Run | None:
    """Confirm, and let a worker do it; None: the page refused."""
    confirm = client.get(reverse("projections:confirm_foreign_reset", args=[row.pk])).content.decode()
    assert f'name="stamp" value="{row.stamp}"' in confirm
    fields = {"typed": row.name, "stamp": row.stamp, "reason": "tests", "request_key": str(uuid4())} | changes
    client.post(reverse("projections:foreign_reset", args=[row.pk]), fields)
    run = Run.objects.filter(kind="foreign-reset").order_by("-pk").first()
    return run_all(run) if run else None


def refusal(run: Run | None) -> str:
    assert run is not None
    assert (run.state, totals(run)) == ("finished", {"refused": 1})
    return str(run.lanes.get().cursor["refusal"])


def has_checkpoint(orders: Orders) -> bool:
    return bool(orders.query("SELECT 1 FROM projection_checkpoints WHERE projection_name = 'SeenProjection'"))


def test_it_is_refused_while_its_worker_runs_and_works_when_it_is_stopped(
    orders: Orders, look: Look, admin: Client
) -> None:
    with orders.working():
        orders.order()
        orders.wait_until_idle()
        row = look()
        page = reverse("projections:foreign", args=[row.pk])
        assert "No reset while its worker runs" in admin.get(page).content.decode()
        assert "Stop its worker first." in refusal(reset(admin, row))
        assert has_checkpoint(orders)
    # It is stopped, but it might be one that connects anew for each event.
    assert "wait until its checkpoint has rested" in refusal(reset(admin, look()))
    make_old(orders)
    row = look()
    assert reverse("projections:confirm_foreign_reset", args=[row.pk]) in admin.get(page).content.decode()
    orders.query("TRUNCATE seen")
    run = reset(admin, row)
    assert run is not None
    assert (run.state, totals(run)) == ("finished", {"reset": 1})
    assert not has_checkpoint(orders)
    entry = AuditEntry.objects.filter(action="projection.reset").latest("id")
    assert (entry.subject, entry.reason) == ("orders/SeenProjection", "tests")
    row = look()
    assert (row.lag, row.has_checkpoint) == (None, False)
    assert row.reset["verdict"] == "waiting"
    # Its worker comes back and handles everything again, as it was meant.
    with orders.working():
        row = look()
    assert (row.lag, row.reset["verdict"]) == (0, "holds")
    [seen] = orders.query("SELECT count(*) AS n FROM seen")
    [events] = orders.query("SELECT count(*) AS n FROM events")
    assert seen == events
    assert "began anew" in admin.get(reverse("runs:run", args=[run.pk])).content.decode()


def test_a_worker_of_ours_that_dies_after_the_source_has_committed_loses_nothing(
    orders: Orders, look: Look, admin: Client
) -> None:
    with orders.working():
        orders.order()
        orders.wait_until_idle()
    make_old(orders)
    row = look()
    # What the run does before it records anything, and then no more.
    reset_there(row)
    assert not has_checkpoint(orders)
    run = reset(admin, row)
    assert run is not None
    assert (run.state, totals(run)) == ("finished", {"reset": 1})
    with orders.working():
        assert look().reset["verdict"] == "holds"


def test_a_checkpoint_that_moved_since_it_was_confirmed_is_left_alone(
    orders: Orders, look: Look, admin: Client
) -> None:
    with orders.working():
        row = look()
        orders.order()
        orders.wait_until_idle()
    make_old(orders)
    assert "moved after the reset was confirmed" in refusal(reset(admin, row))
    assert has_checkpoint(orders)
    page = admin.get(reverse("projections:foreign", args=[row.pk])).content.decode()
    assert re.search(r'The last one, at <span class="nowrap">\d\d:\d\d UTC</span>, changed nothing.', page)
    assert "moved after the reset was confirmed" in page


def test_a_worker_that_was_never_seen_is_not_taken_for_stopped(
    orders: Orders, look: Look, admin: Client, settings: Any
) -> None:
    settings.SOURCES = {"orders": settings.SOURCES["orders"] | {"worker": "a-misspelt-name"}}
    with orders.working():
        orders.order()
        orders.wait_until_idle()
    row = look()
    assert "Its checkpoint moved" in refusal(reset(admin, row))
    assert has_checkpoint(orders)


def test_a_reset_that_its_worker_undoes_is_reported(
    orders: Orders, look: Look, admin: Client, settings: Any
) -> None:
    """Nobody told how to see the worker, and it had nothing to do for a while: only afterwards it shows."""
    settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": orders.dsn}}
    with orders.working():
        orders.order()
        orders.wait_until_idle()
        make_old(orders)
        row = look()
        assert row.worker_seen_at is None
        run = reset(admin, row)
        assert run is not None
        assert totals(run) == {"reset": 1}
        assert look().reset["verdict"] == "waiting"
        orders.order()
        orders.wait_until_idle()
        row = look()
    assert row.reset["verdict"] == "undone"
    html = admin.get(reverse("overview")).content.decode()
    assert "The reset of orders/SeenProjection seems undone" in html
    # Put right, for those who come after.
    orders.query("DELETE FROM projection_checkpoints")


def test_it_takes_an_admin_who_types_the_name_and_twice_is_once(
    orders: Orders, look: Look, operator: Client, admin: Client
) -> None:
    with orders.working():
        orders.order()
        orders.wait_until_idle()
        look()
    row = look()
    url = reverse("projections:foreign_reset", args=[row.pk])
    assert operator.post(url, {"typed": row.name}).status_code == 403
    assert admin.get(url).status_code == 405
    assert reset(admin, row, typed="something else") is None
    key = str(uuid4())
    first = reset(admin, row, request_key=key)
    assert reset(admin, row, request_key=key) == first
    assert Run.objects.filter(kind="foreign-reset").count() == 1
