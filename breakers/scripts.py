"""The Lua scripts, each sent by its hash; a server that has forgotten it gets its text again."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from redis.exceptions import NoScriptError

from breakers.keys import script_keys

FOLDER = Path(__file__).parent / "lua"
SHARED = (FOLDER / "shared.lua").read_text()

# Runs one command: `Wire.execute`, or a client's `execute_command`.
Execute = Callable[..., Any]


class Subject:
    """The part of every script's arguments that names the breaker, written once: KEYS and ARGV 1."""

    def __init__(self, name: str) -> None:
        keys = script_keys(name)
        self.arguments = (str(len(keys)).encode(), *(key.encode() for key in keys), name.encode())


class Script:
    """One file of the lua folder; `shared.lua` says what KEYS and its first two arguments are."""

    def __init__(self, name: str) -> None:
        self.text = f"{SHARED}\n{(FOLDER / name).with_suffix('.lua').read_text()}"
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest().encode()

    def __call__(
        self, execute: Execute, subject: Subject | str, now: int | None, *arguments: str | bytes | int
    ) -> Any:
        """`now` is in ms; None means the server's clock."""
        if isinstance(subject, str):
            subject = Subject(subject)
        moment = b"" if now is None else now
        try:
            return execute("EVALSHA", self.sha, *subject.arguments, moment, *arguments)
        except NoScriptError:
            return execute("EVAL", self.text, *subject.arguments, moment, *arguments)


enter = Script("enter")
succeed = Script("succeed")
fail = Script("fail")
release = Script("release")
hold = Script("hold")
reset = Script("reset")
announce = Script("announce")
prune = Script("prune")
