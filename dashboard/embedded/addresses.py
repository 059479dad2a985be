"""Where the embedded servers listen; every process works it out from the data directory alone."""

import hashlib
import os
import stat
from pathlib import Path
from urllib.parse import quote

from dashboard.embedded.errors import EmbeddedError

USER = DATABASE = "redrive"
# The demo shop has databases of its own, so that it is mixed with nothing and can be left behind.
DEMO_DATABASE, WAREHOUSE_DATABASE = "redrive_demo", "demo_warehouse"
DEMO_REDIS = 1

# The kernel's limit for a socket's path is 104 bytes (macOS) or 108 (Linux), its closing zero included.
LONGEST_PATH = 100
LONGEST_NAME = ".s.PGSQL.5432.lock"


def database_url(data_dir: Path, database: str = DATABASE) -> str:
    """The embedded Postgres, as libpq spells it."""
    return f"postgresql://{USER}@/{database}?host={quote(str(socket_dir(data_dir)), safe='')}"


def redis_url(data_dir: Path, *, db: int = 0) -> str:
    """The embedded Valkey, as redis-py spells it."""
    return f"unix://{quote(str(valkey_socket(data_dir)))}?db={db}"


def valkey_socket(data_dir: Path) -> Path:
    return socket_dir(data_dir) / "valkey.sock"


def socket_dir(data_dir: Path) -> Path:
    """`sockets` in the data directory, or a short stand-in where a socket cannot have that path."""
    inside = data_dir.resolve() / "sockets"
    # A comma would be two hosts to libpq, and a quotation mark the end of the server's setting.
    if len(os.fsencode(inside / LONGEST_NAME)) <= LONGEST_PATH and not set(str(inside)) & {",", '"'}:
        return inside
    digest = hashlib.sha256(os.fsencode(inside)).hexdigest()[:16]
    # Not TMPDIR: it may be long itself, and another terminal may have another one.
    return Path("/tmp") / f"redrive-{os.geteuid()}-{digest}"  # noqa: S108


def make_socket_dir(data_dir: Path) -> Path:
    """Make the socket directory, or refuse one that somebody else could reach into."""
    path = socket_dir(data_dir)
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EmbeddedError(f"Redrive cannot make {path} for its sockets ({error.strerror}).") from None
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise EmbeddedError(f"{path} belongs to somebody else; choose a shorter path with --data.")
    path.chmod(0o700)
    return path
