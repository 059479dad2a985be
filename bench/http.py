"""Real pages over HTTP: a web server as `up` starts it, and a visitor who is signed in."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from urllib.parse import quote

import psycopg
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from psycopg.sql import SQL, Identifier

READY_WITHIN_SECONDS = 60


class Visitor:
    """Asks for pages; an answer that is none stops the benchmark."""

    def __init__(self, port: int, session: str) -> None:
        self.headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={session}", "Host": "127.0.0.1"}
        self.port = port

    def get(self, path: str) -> bytes:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            connection.request("GET", path, headers=self.headers)
            response = connection.getresponse()
            body = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}: {body[:300]!r}")
        return body


def make_session(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def copy_database(name: str) -> str:
    """Another database with what is there now; gives its address."""
    found = connection.settings_dict
    connection.close()
    with psycopg.connect(
        dbname="postgres", host=found["HOST"], user=found["USER"], autocommit=True
    ) as elsewhere:
        elsewhere.execute(
            SQL("CREATE DATABASE {} TEMPLATE {}").format(Identifier(name), Identifier(found["NAME"]))
        )
    return f"postgresql://{found['USER']}@/{name}?host={quote(found['HOST'], safe='')}"


@contextmanager
def serving(
    session: str, *, settings_module: str = "dashboard.settings", database: str = "", wsgi: str = "bench.wsgi"
) -> Iterator[Visitor]:
    """A web server with these settings, on this database or ours; it ends with the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "gunicorn",
            "-k",
            "gthread",
            "--threads",
            "4",
            "-b",
            f"127.0.0.1:{port}",
            wsgi,
        ],
        env=os.environ
        | {"DJANGO_SETTINGS_MODULE": settings_module}
        | ({"DATABASE_URL": database} if database else {}),
        cwd=settings.BASE_DIR,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield Visitor(port, session)
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    deadline = time.monotonic() + READY_WITHIN_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the web server did not start")
