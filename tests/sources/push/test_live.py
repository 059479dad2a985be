"""Over a real wire: what a test client cannot send, what the docs tell people to run, and a death."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from dlq.api import record_failure
from dlq.models import Attempt, DeadLetter, LetterBody
from sources.tokens.operations import create_token
from tests.processes import mortal_web, running_web, this_database_url
from tests.wait import until

pytestmark = pytest.mark.django_db(transaction=True)

DOCS = Path(__file__).parents[3] / "docs" / "push.md"
FAILURE = {
    "consumer": "c",
    "event_id": "e",
    "failed_at": "2025-11-01T12:00:00Z",
    "error_message": "m",
}


def send(console: str, secret: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
    given = {"Authorization": f"Bearer {secret}", "Content-Type": "application/x-ndjson"} | headers
    with closing(HTTPConnection(urlsplit(console).netloc, timeout=60)) as wire:
        wire.request("POST", "/api/v1/failures", body, given)
        response = wire.getresponse()
        return response.status, json.load(response)


def send_raw(console: str, text: bytes) -> bytes:
    with socket.create_connection((urlsplit(console).hostname, urlsplit(console).port), timeout=60) as wire:
        wire.sendall(text)
        wire.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: wire.recv(65536), b""))


def test_what_only_a_wire_can_do_and_what_the_docs_say(tmp_path: Path) -> None:
    _, secret = create_token("orders", actor="tests")
    line = json.dumps(FAILURE).encode() + b"\n"
    with running_web(tmp_path / "web.log", REDRIVE_PUSH_BODY_BYTES="100000") as console:
        # In chunks, without a length.
        chunks = (json.dumps(FAILURE | {"event_id": f"chunk {n}"}).encode() + b"\n" for n in range(20))
        assert send(console, secret, chunks) == (202, {"recorded": 20, "refused": []})
        assert send(console, secret, (b" " * 50_000 for _ in range(3)))[0] == 413
        assert send(console, secret, b"")[1] == {"error": "The body is empty."}
        # A connection that breaks off: the line is whole, the body is not.
        start = f"POST /api/v1/failures HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n"
        kind = f"Content-Type: application/x-ndjson\r\nContent-Length: {len(line) + 5}\r\n\r\n"
        assert b"400" in send_raw(console, (start + kind).encode() + line).partition(b"\r\n")[0]
        # Refused before it is read.
        answer = send_raw(
            console, f"{start}Content-Type: application/json\r\nContent-Length: 9999999\r\n\r\n".encode()
        )
        assert b"413" in answer.partition(b"\r\n")[0]
        assert DeadLetter.objects.count() == 20
        for language in ("bash", "python", "typescript"):
            run_example(language, console, secret, tmp_path)
    assert DeadLetter.objects.get(event_id="ord-8812-3").consumer == "order-summary"


def run_example(language: str, console: str, secret: str, tmp_path: Path) -> None:
    """Run what the docs show, as it stands; what needs a program that is not here is left out."""
    (code,) = re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(), re.DOTALL)
    name, command = {
        "bash": ("example.sh", ["bash"]),
        "python": ("example.py", [sys.executable]),
        "typescript": ("example.ts", ["node", "--experimental-strip-types", "--no-warnings"]),
    }[language]
    if not shutil.which(command[0]) or (language == "typescript" and not strips_types()):
        return
    (tmp_path / name).write_text(code)
    environ = os.environ | {"REDRIVE_URL": console, "REDRIVE_TOKEN": secret}
    done = subprocess.run(
        [*command, tmp_path / name], env=environ, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode().replace("'", '"')) == {"recorded": 1, "refused": []}


def strips_types() -> bool:
    """Whether this Node runs TypeScript: from 22 on."""
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    return int(re.sub(r"\D.*", "", said.removeprefix("v")) or 0) >= 22


def test_a_death_leaves_nothing_half_stored_and_sending_again_stores_it_once(tmp_path: Path) -> None:
    """Recording waits for a lock with most of it done: then the web process is killed."""
    _, secret = create_token("orders", actor="tests")
    number = 600
    many = [FAILURE | {"event_id": f"{n:05}", "payload": {"n": n}} for n in range(number)]
    body = "\n".join(map(json.dumps, many))
    last = record_failure(
        source="orders", consumer="c", event_id=many[-1]["event_id"], error_message="earlier"
    )
    with psycopg.connect(this_database_url()) as locker, mortal_web(tmp_path / "web.log") as (web, console):
        locker.execute("SELECT 1 FROM dlq_deadletter WHERE id = %s FOR UPDATE", [last])
        wire = HTTPConnection(urlsplit(console).netloc, timeout=60)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/x-ndjson"}
        wire.request("POST", "/api/v1/failures", body, headers)
        until(lambda: somebody_waits(locker))
        web.kill()
        with pytest.raises((ConnectionError, OSError)):
            wire.getresponse()
        wire.close()
    assert DeadLetter.objects.count() == LetterBody.objects.count() == Attempt.objects.count() == 1
    with running_web(tmp_path / "again.log") as console:
        for _ in range(2):
            assert send(console, secret, body.encode()) == (202, {"recorded": number, "refused": []})
    assert DeadLetter.objects.count() == LetterBody.objects.count() == number


def somebody_waits(connection: psycopg.Connection) -> bool:
    """Whether a backend waits for what this connection holds."""
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND %s = ANY(pg_blocking_pids(pid))"
    return connection.execute(waiting, [connection.info.backend_pid]).fetchone() is not None
