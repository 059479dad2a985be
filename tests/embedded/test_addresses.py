from pathlib import Path

import pytest

from dashboard.embedded.addresses import LONGEST_PATH, database_url, make_socket_dir, redis_url, socket_dir
from dashboard.embedded.errors import EmbeddedError

LONG = Path("/somewhere") / ("very-" * 20)


def test_the_sockets_are_in_the_data_directory() -> None:
    assert socket_dir(Path("/srv/redrive")) == Path("/srv/redrive/sockets")
    assert (
        database_url(Path("/srv/redrive")) == "postgresql://redrive@/redrive?host=%2Fsrv%2Fredrive%2Fsockets"
    )
    assert redis_url(Path("/srv/redrive")) == "unix:///srv/redrive/sockets/valkey.sock?db=0"


def test_a_path_too_long_for_a_socket_has_a_short_stand_in() -> None:
    assert len(str(socket_dir(LONG))) < LONGEST_PATH / 2
    assert socket_dir(LONG) == socket_dir(LONG)
    assert socket_dir(LONG) != socket_dir(LONG / "other")


@pytest.mark.parametrize("name", ["a, b", 'the "new" one'])
def test_so_has_one_that_postgres_would_read_as_something_else(name: str) -> None:
    assert socket_dir(Path("/srv") / name).parent == Path("/tmp")
    assert socket_dir(Path("/srv/my data 50%é#1")) == Path("/srv/my data 50%é#1/sockets")


def test_the_stand_in_is_private(data_dir: Path) -> None:
    deep = data_dir / ("very-" * 20)
    deep.mkdir()
    path = make_socket_dir(deep)
    try:
        assert path.parent == Path("/tmp")
        assert path.stat().st_mode & 0o777 == 0o700
    finally:
        path.rmdir()


def test_a_stand_in_that_leads_elsewhere_is_refused(data_dir: Path) -> None:
    deep = data_dir / ("very-" * 20)
    deep.mkdir()
    trap = socket_dir(deep)
    trap.symlink_to(data_dir)
    try:
        with pytest.raises(EmbeddedError, match="belongs to somebody else"):
            make_socket_dir(deep)
    finally:
        trap.unlink()
