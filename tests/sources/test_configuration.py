"""redrive.toml is read strictly: what makes no sense stops the start with a sentence that names table and key."""

import os
import subprocess
import sys
from pathlib import Path
from traceback import format_exception
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command

from dashboard.config import Config, read_config
from dashboard.env import Env
from sources.connect import is_address
from sources.masked import refuse_masked
from sources.models import SourceState
from sources.registry import list_sources
from sources.sync.sync import sync_source

GOOD = """
[sources.orders]
kind = "eventsource-py"
dsn = "env:ORDERS_DSN"

[targets.orders-api]
kind = "http"
url = "https://orders.internal/replay"
secret = "env:ORDERS_TOKEN"

[consumers."orders/OrderSummaryProjection"]
target = "orders-api"
criticality = "ledger"
sequence = "$.aggregate_id"
strategy = "dead-letter"
"""
ENVIRONMENT = {"ORDERS_DSN": "postgresql://reader:s3cret@db/orders", "ORDERS_TOKEN": "t0ken"}


def read(text: str, directory: Path, **more: str) -> Config:
    path = directory / "redrive.toml"
    path.write_text(text)
    return read_config(path, Env(ENVIRONMENT | more))


def test_values_from_the_environment_are_put_in(tmp_path: Path) -> None:
    config = read(GOOD, tmp_path)
    assert config.sources["orders"]["dsn"] == ENVIRONMENT["ORDERS_DSN"]
    assert config.targets["orders-api"]["secret"] == "t0ken"
    assert config.consumers["orders/OrderSummaryProjection"]["target"] == "orders-api"
    assert config.consumers["orders/OrderSummaryProjection"]["strategy"] == "dead-letter"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "[sorces.x]",
            "the file has 'sorces', which means nothing; it may have consumers, sources, targets, topics",
        ),
        ("sources = 1", "write sources as tables, such as [sources.NAME]"),
        ("[sources.x]\nkind =", "redrive.toml is not TOML"),
        ("[sources.x]\ndsn = 'y'", "[sources.x] needs a kind"),
        ("[sources.native]\nkind = 'sql'", "(native, tokens mean something else)"),
        ("[sources.'a/b']\nkind = 'sql'", "write the name with small letters"),
        ("[targets.source]\nkind = 'http'", "(handler, source mean something else)"),
        (
            "[sources.x]\nkind = 'sql'\ndsn = 'env:NOT_SET'",
            "takes its value from env:NOT_SET, which is not set",
        ),
        ("[sources.x]\nkind = 'sql'\ndsn = 'postgresql://a:pw@b/c'", "[sources.x] dsn holds a secret"),
        ("[sources.x]\nkind = 'sql'\ndsn = 'host=b password=pw'", "dsn holds a secret"),
        ("[targets.x]\nkind = 'http'\nsecret = 'pw'", "[targets.x] secret holds a secret"),
        ("[consumers.x]\ntarget = 'handler'", 'write the name as "source/consumer"'),
        ("[consumers.'a/b']\ntarget = 'nobody'", "target is 'nobody'; there are handler, source"),
        ("[consumers.'a/b']\ntarget = 1", "target is 1; write text"),
        ("[consumers.'a/b']\ncriticality = 'very'", "write one of normal, ledger"),
        (
            "[consumers.'a/b']\nstrategy = 'hope'",
            "strategy is 'hope'; write one of fatal, skip, retry, dead-letter",
        ),
        ("[consumers.'a/b']\nstrategy = 1", "strategy is 1; write text"),
        ("[consumers.'a/b']\nsequence = 'id'", "write a path like $.aggregate_id"),
        ("[consumers.'a/b']\nsequence = '$.lines[*].sku'", "write a path like $.aggregate_id"),
        ("[consumers.'a/b']\nevent_types = 'OrderPaid'", 'write a list such as ["OrderPaid"]'),
        ("[consumers.'a/b']\nevent_types = []", "event_types is []; write a list"),
        ("[consumers.'a/b']\nworker = 7", "worker is 7; write text"),
        (
            "[consumers.'a/b']\ntagret = 'x'",
            "'tagret', which means nothing; it may have criticality, event_types, sequence",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ImproperlyConfigured) as raised:
        read(text, tmp_path)
    assert sentence in str(raised.value)
    assert "pw" not in str(raised.value)


def test_a_file_that_is_named_and_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="which cannot be read"):
        read_config(tmp_path / "nowhere.toml", Env({}))


DSN = "postgresql://db/x"
MAPPING = {
    "kind": "sql",
    "dsn": DSN,
    "table": "t",
    "key": "id",
    "consumer": "c",
    "payload": "p",
    "failed_at": "f",
    "status": "s",
    "open": ["new"],
}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"kind": "pigeon"}, "of kind 'pigeon'; there are eventcore, eventsource-py, platform-services, sql"),
        ({"kind": "eventsource-py"}, "needs a dsn"),
        (
            {"kind": "eventsource-py", "dsn": DSN, "tabel": "y"},
            "'tabel', which means nothing; it may have dsn",
        ),
        ({"kind": "eventsource-py", "dsn": DSN, "every_seconds": "2"}, "every_seconds is '2'; write seconds"),
        ({"kind": "eventsource-py", "dsn": DSN, "timeout_seconds": 90}, "from 0.1 to 30"),
        ({"kind": "eventsource-py", "dsn": DSN, "retry_minutes": 0}, "retry_minutes is 0; write minutes"),
        (MAPPING | {"retention_hours": -1}, "retention_hours is -1; write hours"),
        ({"kind": "eventsource-py", "dsn": DSN, "worker": 7}, "worker is 7; write text"),
        ({"kind": "eventcore", "dsn": DSN, "worker": "w"}, "'worker', which means nothing"),
        ({"kind": "sql", "dsn": DSN}, "needs table, key, payload, failed_at, consumer (or consumer_name)"),
        (MAPPING | {"open": "new"}, "open is 'new'; write a list of words"),
        (MAPPING | {"key_grows": "no"}, "key_grows is 'no'; write true or false"),
        (MAPPING | {"status": ""}, "status and open go together"),
        (MAPPING | {"key": "$.id"}, "key is '$.id'; it must be a column"),
        (MAPPING | {"sequence": "$.a[*]"}, "write a path like $.order.id"),
        (MAPPING | {"retry": "again"}, "must be one of the open words"),
        (MAPPING | {"resolved": "new"}, "which is among the open words"),
    ],
)
def test_a_source_that_cannot_work_is_refused(settings: Any, values: dict[str, Any], sentence: str) -> None:
    settings.SOURCES = {"x": values}
    with pytest.raises(ImproperlyConfigured) as raised:
        list_sources()
    assert "[sources.x]" in str(raised.value)
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("values", "masked", "sentence"),
    [
        (
            {"kind": "eventsource-py", "dsn": DSN},
            "$.tenant_id",
            "[sources.x] (kind eventsource-py) takes tenant from $.tenant_id",
        ),
        (MAPPING | {"sequence": "$.customer.email"}, "$.customer", "takes sequence from $.customer.email"),
        (MAPPING | {"trace": "$.customer"}, "$.customer.email", "takes trace from $.customer, "),
        (MAPPING | {"event_id": "$.items.0.card"}, "$.items[*].card", "takes event_id from $.items.0.card"),
        (MAPPING | {"event_type": "$.items.-1"}, "$.items[*].card", "takes event_type from $.items.-1"),
        (MAPPING | {"consumer": "$.lines.0"}, "$.lines.0", "takes consumer from $.lines.0"),
    ],
)
def test_what_everybody_sees_is_not_taken_from_where_it_is_masked(
    settings: Any, values: dict[str, Any], masked: str, sentence: str
) -> None:
    settings.SOURCES, settings.CONSUMERS = {"x": values}, {}
    settings.MASKED_PATHS = ["$.iban", masked]
    with pytest.raises(ImproperlyConfigured) as raised:
        refuse_masked(list_sources())
    assert sentence in str(raised.value)
    assert f"REDRIVE_MASKED_PATHS masks at {masked};" in str(raised.value)
    settings.MASKED_PATHS = ["$.iban"]
    refuse_masked(list_sources())


def test_nor_is_a_consumers_sequence(settings: Any) -> None:
    settings.SOURCES, settings.MASKED_PATHS = {}, ["$.account"]
    settings.CONSUMERS = {"x/Ledger": {"sequence": "$.account"}, "x/Mails": {"target": "source"}}
    with pytest.raises(ImproperlyConfigured) as raised:
        refuse_masked([])
    assert "[consumers.'x/Ledger'] takes sequence from $.account" in str(raised.value)


def test_an_errors_text_may_hold_what_is_masked_since_that_is_taken_out(settings: Any) -> None:
    settings.SOURCES = {"x": MAPPING | {"error_message": "$.error", "stacktrace": "$.error.trace"}}
    settings.CONSUMERS, settings.MASKED_PATHS = {}, ["$.error"]
    refuse_masked(list_sources())


def test_a_start_with_a_masked_sequence_ends_with_that_sentence(tmp_path: Path) -> None:
    path = tmp_path / "redrive.toml"
    path.write_text("[consumers.'x/Ledger']\nsequence = '$.account'\n")
    more = {"REDRIVE_CONFIG": str(path), "REDRIVE_MASKED_PATHS": "$.account"}
    started = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env=os.environ | more,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert started.returncode != 0
    assert "takes sequence from $.account" in started.stdout + started.stderr


@pytest.mark.django_db
@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://orders:hush%hush@db/orders",
        "postgres//orders:hush@db/orders",
        " postgresql://orders:hush@db/orders",
        "postgresql://orders:hush hush@db/orders",
        "postgresql://orders:hu/hush@db/orders",
        "postgresql://orders:12/hush@db/orders",
        "postgresql://orders:/hush@db/orders",
        "postgresql://orders:hu@hush@db/orders",
        "postgresql://orders:hu@db:hush@db/orders",
        "host=db password=hu hush",
        "host=db port=hush",
    ],
)
def test_a_dsn_with_a_typo_is_refused_and_its_password_said_to_nobody(
    settings: Any, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, dsn: str
) -> None:
    settings.SOURCES = {"x": {"kind": "eventsource-py", "dsn": dsn}}
    for look in (list_sources, lambda: call_command("sources", "check"), lambda: sync_source("x")):
        with pytest.raises(ImproperlyConfigured, match="percent-encode special characters") as raised:
            look()
        assert "hush" not in "".join(format_exception(raised.value))
    assert "hush" not in caplog.text + "".join(capsys.readouterr())
    assert not SourceState.objects.exists()


def test_a_source_that_is_shown_among_the_variables_of_an_error_keeps_its_password(settings: Any) -> None:
    settings.SOURCES = {"x": {"kind": "eventsource-py", "dsn": "postgresql://orders:hush@db/orders"}}
    assert "hush" not in repr(list_sources())


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://orders:p%40ss%2Fword@db:5432/orders?sslmode=require",
        "postgresql://one:5432,two:5433/orders",
        "postgresql://[::1]/orders",
        "postgresql://orders@/orders?host=%2Fvar%2Frun%2Fpostgresql",
        "host=db user=orders@tenant password='p@ss' dbname=orders",
        "service=orders",
    ],
)
def test_an_address_may_be_spelled_in_many_ways(dsn: str) -> None:
    assert is_address(dsn)
