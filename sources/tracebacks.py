"""The error's type, where a source keeps only its message and its trace."""

import re

# What stands before the message at the end of a trace: "shop.errors.Refused: ".
BEFORE_MESSAGE = re.compile(r"(?:^|\n)([A-Za-z_][\w.]{0,300}): ?$")
# The head of an exception group, whose trace is drawn with bars.
GROUP = re.compile(r"^\s*\+ Exception Group Traceback \(most recent call last\):")
GROUP_ERROR = re.compile(r"^ *\| ([A-Za-z_][\w.]{0,300}): ", re.MULTILINE)


def find_error_type(stacktrace: str, message: str) -> str:
    """The type without its module; empty if this does not tell, then recording looks for the last traceback's own.

    A trace ends with the message, which may have many lines and even hold a trace of its own: what stands before it
    is the type, whatever the message says.
    """
    trace, said = stacktrace.rstrip(), message.rstrip()
    if GROUP.match(trace):
        match = GROUP_ERROR.search(trace)
    elif said and trace.endswith(said):
        match = BEFORE_MESSAGE.search(trace[: -len(said)][-400:])
    else:
        return ""
    return match[1].rpartition(".")[2] if match else ""
