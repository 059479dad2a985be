"""A program that Redrive runs, and the command line that starts it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.embedded.errors import EmbeddedError

# -I -S: no site-packages, so the script is there in 15 ms and cannot be changed by the environment.
SCRIPT = [sys.executable, "-I", "-S"]
LAUNCHER = [*SCRIPT, str(Path(__file__).with_name("launch.py"))]
GO = b"\n"


def nothing() -> None:
    """There is nothing to prepare."""


@dataclass(frozen=True)
class Program:
    """What to run, and what must be known to start and stop it."""

    name: str
    command: list[str]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    cwd: Path | None = None
    # Stores start first and stop last.
    is_store: bool = False
    stop_signal: signal.Signals = signal.SIGTERM
    as_nobody: bool = False
    # Lines that contain this are no news; empty: every line is.
    noise: str = ""
    # Called before each start, the restarts included.
    before_start: Callable[[], object] = nothing

    @property
    def launch_command(self) -> list[str]:
        return [*LAUNCHER, *(["--as-nobody"] if self.as_nobody else []), *self.command]


def run_once(program: Program, *, stdin: str = "") -> str:
    """Run a program that ends within seconds, out of the terminal's reach, and return what it printed."""
    done = subprocess.run(
        program.launch_command,
        env=program.environ,
        input=GO + stdin.encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        check=False,
    )
    output = done.stdout.decode(errors="replace").strip()
    if done.returncode != 0:
        raise EmbeddedError(output or f"{program.name} ended with code {done.returncode} and said nothing.")
    return output
