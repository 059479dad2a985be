"""What makes two failures the same: consumer, error type, message without its values, and the top own frame.

Every pattern is bounded and the input is cut, so that no text, however hostile, takes long.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

# Part of every fingerprint: change it with the rules, and old groups stay what they were.
VERSION = "1"
# What is looked at of a message, and of a stack trace.
MOST_CHARACTERS = 8192
TITLE_LENGTH = 200
# How much of a file's path tells it apart; what stands before it is where it was deployed.
PATH_PARTS = 2

# In order: an earlier kind of value may contain a later one.
ADDRESSES = r"""
      (?P<url>[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s'"<>]{1,2000})
    | (?P<email>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,4})
"""
OTHERS = r"""
      (?P<id>\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b)
    | (?P<time>\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?)
    | (?P<value>(?<!\w)(?:'[^'\n]{0,200}'|"[^"\n]{0,200}"|`[^`\n]{0,200}`)(?!\w))
    | (?P<path>(?<![\w.])(?:[A-Za-z]:\\|/)(?:[\w.@~-]{1,100}[/\\]){1,30}[\w.@~-]{0,100})
    | (?P<hex>\b(?:0x[0-9a-fA-F]{1,64}|(?=[a-fA-F]{0,40}\d)[0-9a-fA-F]{8,64})\b)
    | (?P<n>[+-]?(?:\d{1,40}[.,:]?){1,10}(?:[eE][+-]?\d{1,4})?)
"""
# No other character begins one: most of a message is passed over by this alone.
BEGINS = r"""(?=[0-9a-fA-F'"`/+-]|[A-Za-z]:\\)"""
VALUES = re.compile(f"{BEGINS}(?:{OTHERS})", re.VERBOSE)
# Addresses are looked for at every letter, which is dear, and most messages have none.
VALUES_AND_ADDRESSES = re.compile(f"{ADDRESSES} | {OTHERS}", re.VERBOSE)
FRAME = re.compile(r'^ {2}File "([^"\n]{1,1000})", line \d{1,9}, in ([^\n]{1,200})', re.MULTILINE)
ERROR_LINE = re.compile(r"^([A-Za-z_][\w.]{0,300})(?::|$)", re.MULTILINE)
TRACEBACK = "Traceback (most recent call last):"
# Code that came with Python or was installed: not the application's own.
FOREIGN_PATH = re.compile(r"site-packages|dist-packages|/lib/python\d|\\lib\\|^<|/usr/lib/")


@dataclass(frozen=True)
class Fingerprint:
    """The hash, the same hash without source and consumer, and what both were made of."""

    value: str
    error_key: str
    error_type: str
    normal_message: str
    frame: str

    @property
    def title(self) -> str:
        return (
            f"{self.error_type}: {self.normal_message}"[:TITLE_LENGTH]
            if self.normal_message
            else self.error_type
        )


def fingerprint(*, source: str, consumer: str, error_type: str, message: str, stacktrace: str) -> Fingerprint:
    return hash_parts(source, consumer, error_type, normalise(message), find_own_frame(stacktrace))


# The letters of one group are made of the same parts, so a batch asks for few of them.
@lru_cache(maxsize=1000)
def hash_parts(source: str, consumer: str, *parts: str) -> Fingerprint:
    return Fingerprint(digest(source, consumer, *parts), digest(*parts), *parts)


def normalise(message: str) -> str:
    """The message with ids, numbers, quoted values, dates, urls and paths replaced by their kind."""
    text = message[:MOST_CHARACTERS]
    values = VALUES_AND_ADDRESSES if "@" in text or "://" in text else VALUES
    return " ".join(values.sub(lambda match: f"<{match.lastgroup}>", text).split())


def digest(*parts: str) -> str:
    text = "\0".join((VERSION, *parts))
    return f"v{VERSION}-{blake2b(text.encode(errors='replace'), digest_size=16).hexdigest()}"


def last_block(stacktrace: str) -> str:
    """The last traceback, which is of the error that was raised in the end; empty if there is none."""
    start = stacktrace.rfind(TRACEBACK)
    return stacktrace[start : start + 1_000_000] if start >= 0 else ""


def find_own_frame(stacktrace: str) -> str:
    """The deepest frame of the application's own code as `file.py in function`; empty if none is known."""
    block = last_block(stacktrace)[-MOST_CHARACTERS:]
    # What follows the last frame is the message, which is another each time.
    last = block.find("\n", block.rfind('\n  File "') + 1)
    return find_in_frames(block[:last] if last >= 0 else block)


# The letters of one group come from the same place, so a batch asks for few of them.
@lru_cache(maxsize=1000)
def find_in_frames(frames: str) -> str:
    for path, function in reversed(FRAME.findall(frames)):
        if not FOREIGN_PATH.search(path):
            file = "/".join(path.replace("\\", "/").split("/")[-PATH_PARTS:])
            return f"{file} in {function}"
    return ""


def find_error_type(stacktrace: str) -> str:
    """The exception's name from a Python traceback, without its module; empty if there is none.

    The first line after the frames that is not indented: a message may have many lines, so the last is wrong.
    """
    body = last_block(stacktrace).removeprefix(TRACEBACK)
    match = ERROR_LINE.search(body)
    return match[1].rpartition(".")[2] if match else ""
