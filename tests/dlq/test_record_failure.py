"""Recording: the one way in."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from dlq.api import Failure, Parked, park_events, record_failure, record_failures
from dlq.models import Attempt, DeadLetter, Facet, FailureGroup, GroupFacet
from tests.dlq.counting import assert_counters_are_right

pytestmark = pytest.mark.django_db

T = datetime(2026, 11, 1, 12, tzinfo=UTC)


def fail(event_id: str = "e1", at: datetime = T, **fields: Any) -> DeadLetter:
    given = {
        "consumer": "billing",
        "event_type": "OrderPaid",
        "error_type": "ValueError",
        "error_message": "bad 1",
    }
    letter_id = record_failure(**given | {"event_id": event_id, "failed_at": at} | fields)
    return DeadLetter.objects.select_related("group", "body").get(pk=letter_id)


def test_a_failure_becomes_a_letter_with_its_body_its_try_and_its_group() -> None:
    letter = fail(payload={"total": -5}, headers={"k": b"v"}, sequence_key="order-1", app_version="1.8.0")
    assert (letter.status, letter.category, letter.attempts) == ("failed", "permanent", 1)
    assert letter.body.payload == {"total": -5}
    assert letter.body.headers == {"k": "v"}
    assert letter.group is not None
    assert letter.group.title == "ValueError: bad <n>"
    assert Attempt.objects.get(letter=letter).group == letter.group
    assert Facet.objects.filter(kind="event_type", value="OrderPaid").exists()
    assert GroupFacet.objects.filter(group_id=letter.group_id, kind="app_version", value="1.8.0").exists()
    assert_counters_are_right()


def test_the_same_failure_twice_is_one_letter_and_one_try() -> None:
    assert fail().pk == fail().pk
    assert Attempt.objects.count() == 1
    assert DeadLetter.objects.get().attempts == 1
    assert_counters_are_right()


def test_the_latest_failure_describes_the_letter_in_whatever_order_they_come() -> None:
    later = T + timedelta(minutes=5)
    for times in ([T, later], [later, T]):
        DeadLetter.objects.all().delete()
        Attempt.objects.all().delete()
        for at in times:
            fail(at=at, error_type="KeyError" if at == later else "ValueError")
        letter = DeadLetter.objects.get()
        assert (letter.error_type, letter.attempts) == ("KeyError", 2)
        assert (letter.first_failed_at, letter.last_failed_at) == (T, later)
        assert_counters_are_right()


def test_a_later_failure_that_names_no_version_leaves_the_one_that_is_known() -> None:
    fail(app_version="1.8.0")
    assert fail(at=T + timedelta(minutes=5)).app_version == "1.8.0"
    assert fail(at=T + timedelta(minutes=6), app_version="1.8.1").app_version == "1.8.1"


def close(letter: DeadLetter, at: datetime) -> None:
    DeadLetter.objects.filter(pk=letter.pk).update(status="resolved", closed_at=at, closed_by="someone")


def test_a_closed_letter_that_fails_again_opens_and_its_group_is_regressed() -> None:
    letter = fail()
    close(letter, T + timedelta(hours=1))
    letter = fail(at=T + timedelta(hours=2))
    assert (letter.status, letter.closed_at, letter.closed_by) == ("failed", None, "")
    assert letter.group is not None
    assert letter.group.regressed_at == T + timedelta(hours=2)
    assert_counters_are_right()


def test_an_old_failure_delivered_again_leaves_a_closed_letter_closed() -> None:
    close(fail(), T + timedelta(hours=1))
    before = DeadLetter.objects.values().get()
    fail()
    assert DeadLetter.objects.values().get() == before
    assert not FailureGroup.objects.exclude(regressed_at=None).exists()


def test_a_new_letter_in_a_group_that_was_closed_is_a_regression() -> None:
    letter = fail()
    FailureGroup.objects.update(resolved_at=T + timedelta(hours=1))
    fail("e2", T)
    assert FailureGroup.objects.get().regressed_at is None
    fail("e3", T + timedelta(hours=2))
    group = FailureGroup.objects.get()
    assert (group.pk, group.regressed_at, group.resolved_at) == (
        letter.group_id,
        T + timedelta(hours=2),
        None,
    )


def close_as(resolution: str, hours: int, *letters: DeadLetter) -> None:
    status = "discarded" if resolution == "discarded" else "resolved"
    DeadLetter.objects.filter(pk__in=[letter.pk for letter in letters]).update(
        status=status, resolution=resolution, closed_at=T + timedelta(hours=hours), closed_by="someone"
    )


def regressed_at() -> datetime | None:
    return FailureGroup.objects.get().regressed_at


@pytest.mark.parametrize("resolution", ["replayed", "by_hand", "rebuilt", "discarded"])
def test_a_new_letter_in_a_group_of_which_each_was_closed_here_is_a_regression(resolution: str) -> None:
    first, second = fail("e1"), fail("e2")
    close_as(resolution, 1, first)
    fail("e3", T + timedelta(hours=2))
    # The second is open still: it is the same trouble as before.
    assert regressed_at() is None
    close_as(resolution, 3, first, second, DeadLetter.objects.get(event_id="e3"))
    fail("e4", T + timedelta(hours=2))
    # That is older than what put the others right.
    assert regressed_at() is None
    close_as(resolution, 3, DeadLetter.objects.get(event_id="e4"))
    fail("e5", T + timedelta(hours=4))
    assert regressed_at() == T + timedelta(hours=4)
    fail("e6", T + timedelta(hours=5))
    assert regressed_at() == T + timedelta(hours=4)
    assert_counters_are_right()


@pytest.mark.parametrize(
    ("resolution", "error_type"),
    # Whose owner tries by itself, and what passes by itself.
    [("at_source", "ValueError"), ("replayed", "TimeoutError")],
)
def test_what_nobody_took_for_mended_is_no_regression(resolution: str, error_type: str) -> None:
    close_as(resolution, 1, fail("e1", error_type=error_type))
    fail("e2", T + timedelta(hours=2), error_type=error_type)
    assert regressed_at() is None


def test_what_a_rebuild_finds_failing_again_is_no_regression() -> None:
    close_as("rebuilt", 1, fail("e1"))
    fail("e2", T + timedelta(hours=2), is_regression=False)
    assert regressed_at() is None


def test_a_parked_event_has_no_error_and_fails_like_any_other() -> None:
    parked = Parked(consumer="billing", event_id="e2", sequence_key="order-1", parked_at=T)
    park_events([parked, parked])
    letter = DeadLetter.objects.get()
    assert (letter.status, letter.group, letter.category, letter.error_type) == ("parked", None, "", "")
    letter = fail("e2", at=T - timedelta(minutes=1))
    assert (letter.status, letter.error_type) == ("failed", "ValueError")
    park_events([parked])
    letter.refresh_from_db()
    assert letter.status == "failed"
    assert_counters_are_right()


def test_a_batch_may_name_a_letter_many_times_and_gets_an_id_for_each() -> None:
    failures = [
        Failure(consumer="c", event_id=f"e{n % 3}", failed_at=T + timedelta(seconds=n), error_message=f"m{n}")
        for n in range(9)
    ]
    ids = record_failures(failures)
    assert ids[0] == ids[3] == ids[6]
    assert len(set(ids)) == 3
    assert list(DeadLetter.objects.values_list("attempts", flat=True)) == [3, 3, 3]
    assert_counters_are_right()


def test_every_try_keeps_the_beginning_of_its_error() -> None:
    failures = [
        Failure(consumer="c", event_id="e", failed_at=T + timedelta(seconds=n), error_message=f"{n}" * 5000)
        for n in range(3)
    ]
    record_failures(failures[:2])
    record_failures(failures[2:])
    kept = Attempt.objects.order_by("at").values_list("error_message", flat=True)
    assert list(kept) == ["0" * 2000, "1" * 2000, "2" * 2000]


def test_an_exception_tells_its_type_message_and_trace_itself() -> None:
    try:
        raise KeyError("rate_1")
    except KeyError as error:
        letter = fail(error_type="", error_message="", error=error)
    assert letter.error_type == "KeyError"
    assert "test_record_failure.py" in letter.group.frame  # type: ignore[union-attr]


def test_an_event_without_id_is_known_by_its_place_or_its_bytes() -> None:
    assert fail("", topic="orders", partition=3, offset=7).event_id == "orders:3:7"
    one, same, other = (fail("", payload=data) for data in (b"x", b"x", b"y"))
    assert one.pk == same.pk != other.pk


def test_a_time_in_the_future_is_taken_for_now() -> None:
    assert fail(at=timezone.now() + timedelta(days=365)).last_failed_at <= timezone.now()


def test_the_place_in_a_sequence_is_the_events_own_number_even_if_that_is_zero() -> None:
    assert fail("e1", sequence_key="s", sequence_no=0, position=9).sequence_no == 0
    assert fail("e2", sequence_key="s", position=9, offset=5).sequence_no == 9
    assert fail("e3", sequence_key="s", topic="t", offset=5).sequence_no == 5
