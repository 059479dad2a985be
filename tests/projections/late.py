"""`manage.py consume letters`, whose child hears no signal for a moment after it was started anew.

Run by test_deaths.py.
"""

import sys
import time
from os import _exit, kill
from pathlib import Path
from signal import SIGTERM

import django


def main(mark: Path) -> None:
    from projections.definition import Projector, find_projector
    from projections.runtime import processes

    run_child = processes.run_child

    def run_late(projector: Projector, parent: int) -> None:
        if not mark.exists():
            mark.touch()
            _exit(1)
        kill(parent, SIGTERM)
        # As on a busy machine: its parent has ended its round, and told it to stop.
        time.sleep(1)
        run_child(projector, parent)

    processes.run_child = run_late
    projector = find_projector("letters")
    assert projector is not None
    processes.run_parent([projector])


if __name__ == "__main__":
    django.setup()
    main(Path(sys.argv[1]))
