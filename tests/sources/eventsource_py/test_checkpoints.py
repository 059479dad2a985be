"""How far a real eventsource-py application is, and whether its worker runs, against what is true there."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projections.models import ForeignProjection
from tests.sources.eventsource_py.application import Orders

Look = Callable[..., ForeignProjection]


def test_lag_is_the_true_distance_live_and_stopped(orders: Orders, look: Look) -> None:
    orders.order()
    with orders.working():
        orders.order(total=-1)
        # The last event of its types failed, so no checkpoint names it; its letter does.
        orders.order(currency="???")
        orders.wait_until_idle()
        row = look("OrderSummaryProjection")
        assert (row.lag, row.lag_bound, row.delay_seconds) == (0, "", None)
        assert row.state == "running"
        assert "of orders-worker are connected. Nothing waits." in row.evidence
        # Live, its position stands in last_event_id alone: the token is as old as the start.
        [token] = orders.query(
            "SELECT (position_token::jsonb -> 'k' ->> 0)::int AS k FROM projection_checkpoints "
            "WHERE projection_name = 'SeenProjection'"
        )
        assert look().position == orders.count_head() > token["k"]
    orders.order()
    orders.order()
    expected = {"SeenProjection": 6, "OrderSummaryProjection": 4, "LedgerProjection": 2}
    look()
    assert dict(ForeignProjection.objects.values_list("name", "lag")) == expected
    [oldest] = orders.query("SELECT created_at FROM events ORDER BY global_position DESC OFFSET 5 LIMIT 1")
    row = look()
    assert row.oldest_at == oldest["created_at"]
    assert (row.state, row.get_lag_bound_display()) == ("stopped", "exactly")
    assert row.evidence.startswith("No session of orders-worker is connected. 6 events wait, the first for ")
    with orders.working():
        orders.wait_until_idle()
    # Caught up: now the token is ahead of what last_event_id says for those who handle few types.
    look()
    assert set(ForeignProjection.objects.values_list("lag", flat=True)) == {0}


def test_without_event_types_the_lag_is_at_most_that(orders: Orders, look: Look, settings: Any) -> None:
    settings.CONSUMERS = {}
    settings.SOURCES = {"orders": {"kind": "eventsource-py", "dsn": orders.dsn}}
    with orders.working():
        orders.order()
        orders.wait_until_idle()
    row = look("OrderSummaryProjection")
    assert (row.lag, row.get_lag_bound_display()) == (1, "at most")
    assert "event_types" in row.lag_note
    # Nobody told how to see its worker: only that the checkpoint moved just now.
    assert (row.state, row.evidence.split(".")[0]) == ("running", "Its checkpoint moved not long ago")
    make_old(orders)
    ForeignProjection.objects.all().delete()
    row = look("OrderSummaryProjection")
    assert row.state == "unknown"
    assert row.evidence.startswith("At most 1 event waits, for ")
    assert look().state == "unknown"


def test_events_that_may_be_lost_are_named(orders: Orders, look: Look, viewer: Client) -> None:
    with orders.working():
        for _ in range(6):
            orders.order(carrier="nobody")
        orders.order()
        orders.wait_until_idle()
    assert look().unaccounted["number"] == 0
    assert "cannot be known" in look().unaccounted["sentence"]
    row = look("LedgerProjection")
    assert row.unaccounted["number"] == 1
    [named] = row.unaccounted["named"]
    [event] = orders.query(
        "SELECT event_id::text, event_type, aggregate_id::text AS stream, global_position::text AS position "
        "FROM events ORDER BY global_position DESC LIMIT 1"
    )
    assert named == event
    headline = "orders/LedgerProjection has 1 unaccounted event"
    assert headline in viewer.get(reverse("overview")).content.decode()
    row.unaccounted["newest_at"] = (timezone.now() - timedelta(days=2)).isoformat()
    row.save()
    assert headline not in viewer.get(reverse("overview")).content.decode()
    assert named["event_id"] in viewer.get(reverse("projections:foreign", args=[row.pk])).content.decode()


def test_the_pages_say_it(orders: Orders, look: Look, viewer: Client) -> None:
    with orders.working():
        orders.order()
        orders.wait_until_idle()
    orders.order()
    row = look()
    html = viewer.get(reverse("projections:projections")).content.decode()
    assert "Run by other systems" in html
    # It may only be starting anew.
    assert "projections need you" not in html
    ForeignProjection.objects.update(state_since=timezone.now() - timedelta(minutes=2))
    html = viewer.get(reverse("projections:projections")).content.decode()
    assert "3 projections need you" in html
    page = reverse("projections:foreign", args=[row.pk])
    html = viewer.get(page).content.decode()
    assert f"{row.position:,} of {row.head:,}" in html
    assert "No session of orders-worker is connected. 3 events wait" in html
    assert "Pause, skip, dead-letter and rebuild are not here" in html
    assert reverse("projections:confirm_foreign_reset", args=[row.pk]) not in html
    html = viewer.get(reverse("overview")).content.decode()
    assert "3 projections of orders are stopped" in html


def test_a_role_that_may_only_read_sees_everything_and_is_offered_no_reset(
    orders: Orders, look: Look, admin: Client, settings: Any
) -> None:
    orders.query("CREATE ROLE reader LOGIN")
    orders.query("GRANT SELECT ON projection_checkpoints, events, dead_letter_queue TO reader")
    dsn = orders.dsn.replace("redrive@", "reader@")
    settings.SOURCES = {"orders": settings.SOURCES["orders"] | {"dsn": dsn}}
    with orders.working():
        orders.order()
        orders.wait_until_idle()
        row = look()
        assert (row.state, row.lag) == ("running", 0)
    html = admin.get(reverse("projections:foreign", args=[look().pk])).content.decode()
    assert "No reset. The role reader may delete nothing in projection_checkpoints: GRANT DELETE" in html


def make_old(orders: Orders) -> None:
    """As if all checkpoints had rested for two minutes."""
    orders.query("ALTER TABLE projection_checkpoints DISABLE TRIGGER USER")
    orders.query("UPDATE projection_checkpoints SET updated_at = now() - interval '2 minutes'")
    orders.query("ALTER TABLE projection_checkpoints ENABLE TRIGGER USER")
