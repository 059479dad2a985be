"""Start one child: wait for the word, give up root if asked to, become the command.

Run as a script in a process of its own, for two jobs between fork and exec that a program with threads may
not do there itself:

1. Read one byte from standard input. The supervisor writes it after the guardian has heard of this process;
   if the supervisor is killed before that, we read the end of the file and go away: no child is ever unknown.
2. With `--as-nobody`, enter a user namespace in which root is nobody: Postgres refuses to run as root. This
   needs no other account and no change of owner, and works below a directory that only root may enter.
"""

import ctypes
import os
import sys

CLONE_NEWUSER = 0x10000000
NOBODY = 65534


def main() -> None:
    command = sys.argv[1:]
    # Straight from the descriptor: what follows the byte is the command's own input.
    if not os.read(0, 1):
        return
    if command[0] == "--as-nobody":
        command = command[1:]
        become_nobody()
    try:
        os.execv(command[0], command)  # noqa: S606
    except PermissionError:
        sys.exit(
            f"Root without its privileges may not read {command[0]}; "
            "run Redrive as the owner of that directory, or set DATABASE_URL to a Postgres of yours."
        )


def become_nobody() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        if libc.unshare(CLONE_NEWUSER) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        for name, text in ("uid_map", f"{NOBODY} 0 1"), ("setgroups", "deny"), ("gid_map", f"{NOBODY} 0 1"):
            with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
                file.write(text)
    except (AttributeError, OSError):
        sys.exit(
            "Postgres does not run as root, and this machine allows no user namespaces to get around that; "
            "run Redrive as an ordinary user, or set DATABASE_URL to a Postgres of yours."
        )


if __name__ == "__main__":
    main()
