"""How a source is follows from what the looks left behind, and says since when."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from dashboard.models import Run
from dashboard.words import clock
from sources.health import Health, judge
from sources.models import SourceState
from sources.needs import find_silent

NOW = timezone.now()


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def say(**fields: Any) -> Health:
    return judge(SourceState(**{"synced_at": ago(1)} | fields), 2, None, NOW)


def fail(**fields: Any) -> Health:
    return say(**{"error": "It said no", "error_count": 3, "failing_since": ago(90), "next_at": NOW} | fields)


def test_one_that_fails_says_for_how_long_and_since_when() -> None:
    since = clock(ago(90))
    assert fail().sentence == f"It said no. Failing for 1 min, since {since}; it is tried again by itself."
    just = fail(failing_since=NOW).sentence
    assert just == f"It said no. Failing since {clock(NOW)}; it is tried again by itself."
    assert (fail().word, fail().tone, fail().is_away) == ("no answer", "bad", True)
    assert fail(failing_since=ago(5)).tone == "warn"
    assert (fail(is_permanent=True).word, fail(is_permanent=True).is_away) == ("cannot be read", True)


def test_a_statement_to_be_copied_ends_as_it_must_be_run() -> None:
    error = "The role reader may not read letters: GRANT SELECT ON letters TO reader;"
    assert fail(error=error).sentence.startswith(f"{error} Failing for ")


def test_one_that_was_looked_at_to_the_end_does_not_take_what_is_written() -> None:
    assert (fail(error_count=0).word, fail(error_count=0).is_away) == ("writes fail", False)


def test_one_that_nobody_tries_again_is_not_looked_at() -> None:
    forgotten = fail(synced_at=ago(600), next_at=ago(60))
    assert forgotten.word == "not looked at"
    assert forgotten.sentence.endswith("or beat is away. The last try failed: It said no.")
    # It is being tried, and hangs.
    assert fail(synced_at=ago(600), next_at=ago(60), leased_until=ago(-5)).word == "no answer"
    assert say(synced_at=ago(60)).word == "not looked at"


def test_one_that_a_worker_looks_at_is_looked_at_however_long_it_takes() -> None:
    first = say(synced_at=None, leased_until=ago(-5))
    assert (first.says, first.tone) == ("is looked at for the first time", "info")
    later = say(synced_at=ago(60), leased_until=ago(-5))
    assert (later.says, later.tone) == ("is being looked at", "warn")
    assert later.sentence.startswith("No look came to its end for 1 min, since ")
    # Looks begin, and die.
    assert say(synced_at=ago(600), leased_until=ago(-5)).needs_somebody
    assert say(leased_until=ago(-5)).word == "up to date"
    # Whoever had it is gone.
    for synced_at in (None, ago(60)):
        assert say(synced_at=synced_at, leased_until=ago(1)).word == "not looked at"


def test_one_with_more_to_read_is_behind() -> None:
    behind = say(cursor={"is_behind": True})
    # Also right after somebody asked to import again, when nothing has been read.
    assert behind.sentence == "It has rows that have not been read yet; the next look goes on."
    assert behind.word == "behind"
    assert say(cursor={"is_behind": False}).word == "up to date"


@pytest.mark.django_db
def test_every_page_asks_two_questions_however_many_sources_there_are(
    settings: Any, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    names = [f"source-{n}" for n in range(5)]
    settings.SOURCES = {name: {"kind": "eventcore", "dsn": "postgresql://x/y"} for name in names}
    for name in names:
        run = Run.objects.create(kind="import", title=name, state="cancelled", request_key=uuid4())
        SourceState.objects.create(name=name, synced_at=timezone.now(), cursor={"import_run": run.pk})
    with django_assert_num_queries(2):
        needs = list(find_silent())
    assert [need.headline for need in needs] == [f"{name} is not complete" for name in names]
