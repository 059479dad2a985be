import os
import subprocess
import sys
from pathlib import Path

from dashboard.embedded.addresses import database_url, redis_url
from tests.processes import ROOT


def test_two_replays_survive_the_death_of_everything(tmp_path: Path) -> None:
    """Five kill -9 of the worker, two of Redis with all it held, one crash of Postgres, under live traffic."""
    stores = {"DATABASE_URL": database_url(tmp_path), "REDIS_URL": redis_url(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.dlq.replay.chaos", str(tmp_path)],
        cwd=ROOT,
        env=os.environ | stores | {"REDRIVE_RUN_LEASE_SECONDS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
