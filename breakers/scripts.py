"""The Lua scripts, each sent by its hash; a server that has forgotten it gets its text again."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from redis.exceptions import NoScriptError

from breakers.keys import script_keys

FOLDER = Path(__file__).parent / "lua"
SHARED = (FOLDER / "shared.lua").read_text()

# Runs one command: a client's `execute_command`.
Execute = Callable[..., Any]


class Script:
    """One file of the lua folder; `shared.lua` says what its first two arguments are."""

    def __init__(self, name: str) -> None:
        self.text = f"{SHARED}\n{(FOLDER / name).with_suffix('.lua').read_text()}"
        self.sha = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()

    def __call__(self, execute: Execute, name: str, now: int | None, *arguments: str | int) -> Any:
        keys = script_keys(name)
        rest = (len(keys), *keys, name, "" if now is None else now, *arguments)
        try:
            return execute("EVALSHA", self.sha, *rest)
        except NoScriptError:
            return execute("EVAL", self.text, *rest)


enter = Script("enter")
succeed = Script("succeed")
fail = Script("fail")
release = Script("release")
hold = Script("hold")
reset = Script("reset")
announce = Script("announce")
prune = Script("prune")
