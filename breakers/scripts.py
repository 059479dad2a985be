"""The Lua scripts, each sent by its hash; a server that has forgotten it gets its text again."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from redis.exceptions import NoScriptError

from breakers.keys import script_keys

FOLDER = Path(__file__).parent / "lua"
SHARED = (FOLDER / "shared.lua").read_text() + "\n"

# Runs one command: `Wire.execute`, or a client's `execute_command`.
Execute = Callable[..., Any]


class Subject:
    """The part of every script's arguments that names the breaker, written once: KEYS and ARGV 1."""

    def __init__(self, name: str) -> None:
        keys = script_keys(name)
        self.arguments = (str(len(keys)).encode(), *(key.encode() for key in keys), name.encode())


class Script:
    """One file of the lua folder."""

    def __init__(self, name: str, front: str = "") -> None:
        self.text = front + (FOLDER / name).with_suffix(".lua").read_text()
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest().encode()

    def run(self, execute: Execute, *arguments: str | bytes | int) -> Any:
        """`arguments` are the number of keys, the keys, and the script's own."""
        try:
            return execute("EVALSHA", self.sha, *arguments)
        except NoScriptError:
            return execute("EVAL", self.text, *arguments)


class Verb(Script):
    """A script that does something to one breaker; `shared.lua` says what KEYS and its first two arguments are."""

    def __init__(self, name: str) -> None:
        super().__init__(name, SHARED)

    def __call__(
        self, execute: Execute, subject: Subject | str, now: int | None, *arguments: str | bytes | int
    ) -> Any:
        """`now` is in ms; None means the server's clock."""
        if isinstance(subject, str):
            subject = Subject(subject)
        return self.run(execute, *subject.arguments, b"" if now is None else now, *arguments)


read = Script("read")
list_open = Script("list")
enter = Verb("enter")
succeed = Verb("succeed")
fail = Verb("fail")
release = Verb("release")
hold = Verb("hold")
reset = Verb("reset")
announce = Verb("announce")
prune = Verb("prune")
