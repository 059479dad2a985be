"""What `manage.py up` says and asks before anything runs; `tests/system` has the rest."""

import resource
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from dashboard.embedded.addresses import redis_url
from dashboard.embedded.supervisor import Supervisor
from dashboard.management.commands import up
from tests.console import MANAGE, free_port

NO_PLACE = "/proc/redrive"


def fail_to_start(data_dir: str, *, preexec: object = None, **environ: str) -> str:
    """Its last words."""
    done = subprocess.run(
        [sys.executable, str(MANAGE), "up", f"--data={data_dir}", f"--port={free_port()}"],
        env={"PATH": "/usr/bin:/bin", **environ},
        preexec_fn=preexec,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    return done.stderr


class Ready(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


@pytest.fixture
def ready() -> Iterator[str]:
    """A console that is ready."""
    with HTTPServer(("127.0.0.1", 0), Ready) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_proxy_that_the_environment_names_is_not_on_the_way_to_itself(
    ready: str, supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setattr(urllib.request, "_opener", None)
    monkeypatch.setattr(up, "CONSOLE_READY_WITHIN_SECONDS", 20)
    up.wait_until_ready(supervisor, ready)


def test_its_own_valkey_may_be_named(tmp_path: Path) -> None:
    said = fail_to_start(NO_PLACE, REDRIVE_DATA=str(tmp_path), REDIS_URL=redis_url(tmp_path))
    assert said.startswith(f"Redrive cannot write to {NO_PLACE}")


def test_a_disk_that_takes_nothing_is_one_sentence(tmp_path: Path) -> None:
    def write_nothing() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    [said] = fail_to_start(str(tmp_path), preexec=write_nothing).splitlines()
    assert said == f"Redrive cannot write to {tmp_path} (File too large); choose another place with --data."
