"""The names of everything that breakers keep in Redis; no other module builds a key.

All keys share one hash tag, so that a cluster keeps them on one server and a script may touch several at once.
Breakers' names come from outside. They follow the tag, so nothing in them can change where a key lives.
"""

TAG = "{redrive:breakers}"
OPEN_INDEX = f"{TAG}:open"
SEEN_INDEX = f"{TAG}:seen"
TRANSITIONS = f"{TAG}:transitions"

# Long enough for an endpoint's address, short enough for an index and a line on a page.
LONGEST_NAME = 200


def breaker_key(name: str) -> str:
    return f"{TAG}:breaker:{name}"


def script_keys(name: str) -> tuple[str, str, str, str]:
    """The KEYS of every script; `lua/shared.lua` says what they are."""
    return breaker_key(name), OPEN_INDEX, SEEN_INDEX, TRANSITIONS


def check_name(name: str) -> str:
    """The name itself, if a key, a row and a page can hold it."""
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ValueError(
            f"A breaker's name has 1 to {LONGEST_NAME} printable characters; this is {name[:60]!r}."
        )
    return name
