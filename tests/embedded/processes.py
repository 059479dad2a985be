"""Looking at real processes."""

import psutil


def is_alive(pid: int) -> bool:
    """False also for a zombie: it has ended, whoever forgot to bury it."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
