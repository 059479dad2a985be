"""The supervisor: keeps the programs alive and stops them in order.

A start is three steps: (1) a process is made, in a session of its own, and waits; (2) its process group is
written to the guardian's pipe; (3) the process gets the word to go on. What happens if somebody dies:

- a child, at any time: its process group is killed, and it is started again after a pause that grows; five
  deaths within a minute stop everything, with exit code 1 and the child's last lines.
- the supervisor after (1): the process reads the end of its input instead of the word, and ends.
- the supervisor after (2) or (3), or while it stops or restarts something: the guardian reads the end of its
  pipe and stops the groups it was last told of, applications first; those that are already dead it skips.
- the guardian, at any time: it is started again and told everything.
- supervisor and guardian together: applications stay, and the next start finds their port taken; stores are
  ended by the next start before it touches their files.
- everybody (power): Postgres and Valkey recover from their logs; a half-made database directory is removed.

Each child has a thread that keeps it and one that reads its output. The main thread waits in `wait_until` and
`wait`, where news of the others arrives as an exception: a request to stop, or a child that was given up.
"""

import contextlib
import math
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Self

from dashboard.embedded.child import Child
from dashboard.embedded.errors import EmbeddedError
from dashboard.embedded.guard import Guard
from dashboard.embedded.guardian import GRACE_SECONDS
from dashboard.embedded.log import Log
from dashboard.embedded.program import Program

MOST_DEATHS = 5
WITHIN_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.25
POLL_SECONDS = 0.1


class StopRequested(Exception):
    """Somebody asked us to stop; this is the ordinary end."""


class Supervisor:
    """Use it in a `with` block, at whose end everything it started has stopped."""

    def __init__(self, log: Log, guard: Guard) -> None:
        self._log = log
        self._guard = guard
        self._children: list[Child] = []
        self._keepers: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        # Its `put` may be called from a signal handler, which an Event's `set` may not.
        self._news: queue.SimpleQueue[Exception] = queue.SimpleQueue()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop_on(self, *signals: signal.Signals) -> None:
        """Let these signals end `wait`; one more of them while we stop changes nothing."""
        for number in signals:
            # nohup has set "ignore" before we started, and means it.
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue
            signal.signal(number, lambda *_: self._news.put(StopRequested()))

    def start(self, *programs: Program) -> None:
        """Start programs and keep them alive."""
        for program in programs:
            keeper = threading.Thread(target=self._keep, args=[program], name=program.name, daemon=True)
            self._keepers.append(keeper)
            keeper.start()

    def run(self, program: Program) -> list[str]:
        """Run a program once, to its end, and return the lines it printed."""
        lines: list[str] = []
        child = self._spawn(program, lambda _, line: lines.append(line))
        self.wait_until(lambda: not child.is_running)
        code = child.wait()
        self._forget(child)
        if code != 0:
            raise EmbeddedError("\n".join([f"{program.name} failed ({describe(code)}):", *lines]))
        return lines

    def wait_until(
        self, condition: Callable[[], bool], seconds: float = math.inf, *, pause: float = POLL_SECONDS
    ) -> None:
        """Return once the condition holds; TimeoutError if it does not within the time."""
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError
            with contextlib.suppress(queue.Empty):
                raise self._news.get(timeout=pause)

    def wait(self) -> None:
        """Wait for the news that ends us, and look up now and then.

        Python runs a signal's handler between two steps: one that comes just before a wait without end would be
        noticed only when another comes.
        """
        self.wait_until(lambda: False)

    def stop(self) -> None:
        """Stop applications, then stores; whoever does not stop in time is killed. Twice is once."""
        with self._lock:
            if self._stopping.is_set():
                return
            self._stopping.set()
            phases = self._in_stopping_order()
        for phase in phases:
            for child in phase:
                child.ask_to_stop()
            deadline = time.monotonic() + GRACE_SECONDS
            while any(child.is_running for child in phase) and time.monotonic() < deadline:
                time.sleep(0.02)
            for child in phase:
                child.kill()
        for keeper in self._keepers:
            keeper.join()
        self._guard.dismiss()

    def _keep(self, program: Program) -> None:
        deaths: deque[float] = deque(maxlen=MOST_DEATHS)
        try:
            while True:
                program.before_start()
                child = self._spawn(program, self._log.line)
                code = child.wait()
                self._forget(child)
                if self._stopping.is_set():
                    return
                deaths.append(time.monotonic())
                recent = sum(at > deaths[-1] - WITHIN_SECONDS for at in deaths)
                if recent == MOST_DEATHS:
                    raise EmbeddedError(obituary(child, code))
                self._log.say(f"{program.name} died ({describe(code)}); starting it again.")
                self._stopping.wait(FIRST_PAUSE_SECONDS * 2 ** (recent - 1))
        except StopRequested:
            return
        except Exception as error:
            self._news.put(error)

    def _spawn(self, program: Program, on_line: Callable[[str, str], None]) -> Child:
        with self._lock:
            if self._stopping.is_set():
                raise StopRequested
            child = Child(program, on_line)
            self._children.append(child)
            self._tell_guard()
        child.go()
        return child

    def _forget(self, child: Child) -> None:
        with self._lock:
            self._children.remove(child)
            self._tell_guard()

    def _tell_guard(self) -> None:
        phases = self._in_stopping_order()
        self._guard.tell([[(child.pid, child.program.stop_signal) for child in phase] for phase in phases])

    def _in_stopping_order(self) -> list[list[Child]]:
        applications = [child for child in self._children if not child.program.is_store]
        stores = [child for child in self._children if child.program.is_store]
        return [applications, stores]


def describe(code: int) -> str:
    """An exit code in words."""
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name


def obituary(child: Child, code: int) -> str:
    """Why we give up on a child: the place to look is what it said last."""
    name = child.program.name
    sentence = f"{name} died {MOST_DEATHS} times within a minute ({describe(code)}); it said last:"
    return "\n".join([sentence, *(f"    {line}" for line in child.last_lines)])
