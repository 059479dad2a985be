"""A pytest plugin, loaded before pytest-django reads the settings: private Postgres and Valkey for the tests.

It never uses servers that the environment names, so that no test can touch data that somebody needs. The
processes of a parallel run share the servers: each has a database of its own, and a Redis number of its own.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from dashboard.embedded import postgres, valkey
from dashboard.embedded.addresses import database_url, redis_url
from dashboard.embedded.guard import Guard
from dashboard.embedded.log import Log
from dashboard.embedded.supervisor import Supervisor

READY_WITHIN_SECONDS = 60.0
ENVIRONMENT = {
    "REDRIVE_SECRET_KEY": "only-for-tests-" * 4,
    "REDRIVE_ALLOWED_HOSTS": "testserver,localhost,127.0.0.1",
    "REDRIVE_HTTPS": "0",
    "REDRIVE_APPS": "tests.tally,tests.shop,demo,examples.parcels",
    # Whatever the checkout is connected to is no business of the tests.
    "REDRIVE_CONFIG": os.devnull,
    # A worker that a test kills is to be missed soon.
    "REDRIVE_RUN_LEASE_SECONDS": "2",
}


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None]:
    """Before the settings are read: start the servers and name them in the environment."""
    asked = early_config.known_args_namespace
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None:
        number = int(worker.removeprefix("gw")) + 1
        os.environ["REDIS_URL"] = f"unix://{urlsplit(os.environ['REDIS_URL']).path}?db={number}"
    else:
        data_dir = Path(tempfile.mkdtemp(prefix="redrive-test-"))
        atexit.register(shutil.rmtree, data_dir, ignore_errors=True)
        os.environ["DATABASE_URL"] = database_url(data_dir)
        os.environ["REDIS_URL"] = redis_url(data_dir)
        os.environ |= ENVIRONMENT
        if not (asked.collectonly or asked.version or asked.help):
            start_servers(data_dir)
    return (yield)


def start_servers(data_dir: Path) -> None:
    """Start both servers; they stop when this process ends, however it ends."""
    log = data_dir / "servers.log"
    supervisor = Supervisor(Log(log.open("w")), Guard())
    atexit.register(supervisor.stop)
    stores = postgres, valkey
    for store in stores:
        store.prepare(data_dir, durable=False)
        supervisor.start(store.program(data_dir, durable=False))
    try:
        supervisor.wait_until(lambda: all(store.is_ready(data_dir) for store in stores), READY_WITHIN_SECONDS)
    except TimeoutError:
        pytest.exit(f"The servers for the tests do not start:\n{log.read_text()}", returncode=3)
