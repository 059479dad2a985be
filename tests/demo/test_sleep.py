"""A machine that sleeps: the shop goes on from where it wakes, and makes up for nothing."""

from datetime import timedelta

from demo.living import wake_up
from demo.night_shift import NightShift
from demo.simulator import Simulator
from demo.sink import Sink
from demo.warehouse.writer import BURST, Warehouse


def test_a_weekend_is_not_made_up_for(sink: Sink, warehouse: Warehouse) -> None:
    friday = warehouse.at
    monday = friday + timedelta(days=2.5)
    simulator, night_shift = Simulator(friday), NightShift(friday, speed=1)
    wake_up(monday, simulator, warehouse, night_shift)
    assert simulator.advance(monday + timedelta(seconds=1)) < 50
    warehouse.tick(monday + timedelta(seconds=1))
    [(count,)] = warehouse.connection.execute("SELECT count(*) FROM events").fetchall()
    assert count <= 2 * BURST
    assert list(night_shift.sleeps) == [(friday, monday)]


def test_a_moment_is_made_up_for(sink: Sink, warehouse: Warehouse) -> None:
    began_at = warehouse.at
    simulator, night_shift = Simulator(began_at), NightShift(began_at, speed=1)
    wake_up(began_at + timedelta(seconds=59), simulator, warehouse, night_shift)
    assert (simulator.at, warehouse.at) == (began_at, began_at)
    assert not night_shift.sleeps


def test_what_had_begun_before_is_done(sink: Sink, warehouse: Warehouse) -> None:
    began_at = warehouse.at
    simulator, night_shift = Simulator(began_at), NightShift(began_at, speed=1)
    simulator.advance(began_at + timedelta(minutes=5))
    waiting = len(simulator.waiting)
    assert waiting
    later = began_at + timedelta(days=1)
    wake_up(later, simulator, warehouse, night_shift)
    assert simulator.advance(later) == waiting
