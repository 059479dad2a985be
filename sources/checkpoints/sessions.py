"""Whether a worker is seen at its database, by the application_name of its sessions, which every role may read."""

from dashboard.words import agree, counted
from sources.checkpoints.contract import Evidence
from sources.connect import Cursor

COUNT_SESSIONS = """
SELECT application_name, count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = ANY(%(names)s) GROUP BY application_name
"""
UNSEEN = Evidence(
    None, "Whether its worker runs cannot be seen: give its sessions a name, and redrive.toml that name."
)


def look_for_workers(cursor: Cursor, workers: set[str]) -> dict[str, Evidence]:
    """One look for all; a worker keeps its sessions, so that none means that it is not running."""
    named = sorted(filter(None, workers))
    if not named:
        return {"": UNSEEN}
    cursor.execute(COUNT_SESSIONS, {"names": named})
    counts: dict[str, int] = dict(cursor.fetchall())
    return {"": UNSEEN} | {worker: describe(worker, counts.get(worker, 0)) for worker in named}


def describe(worker: str, number: int) -> Evidence:
    if not number:
        return Evidence(False, f"No session of {worker} is connected.", worker, is_steady=True)
    are = agree(number, "is", "are")
    return Evidence(True, f"{counted(number, 'session')} of {worker} {are} connected.", worker)
