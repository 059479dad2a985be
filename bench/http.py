"""Real pages over HTTP: a web server as `up` starts it, and a visitor who is signed in."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

READY_WITHIN_SECONDS = 60


class Visitor:
    """Asks for pages; an answer that is none stops the benchmark."""

    def __init__(self, port: int, user: User) -> None:
        client = Client()
        client.force_login(user)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value
        self.headers = {"Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}", "Host": "127.0.0.1"}
        self.port = port

    def get(self, path: str) -> bytes:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            connection.request("GET", path, headers=self.headers)
            response = connection.getresponse()
            body = response.read()
        if response.status != 200:
            raise RuntimeError(f"{path} answered {response.status}: {body[:300]!r}")
        return body


@contextmanager
def serving(user: User, *, settings_module: str = "dashboard.settings") -> Iterator[Visitor]:
    """A web server with these settings; it ends with the block."""
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
            "bench.wsgi",
        ],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": settings_module},
        cwd=settings.BASE_DIR,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield Visitor(port, user)
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
