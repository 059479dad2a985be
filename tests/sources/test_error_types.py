"""The error's type is read from the trace, where a table has no column for it."""

import traceback

import pytest

from dlq.fingerprints import find_error_type as find_by_trace
from sources.tracebacks import find_error_type


class Refused(Exception):
    pass


def fail(error: BaseException, cause: BaseException | None = None) -> tuple[str, str]:
    try:
        try:
            raise cause or error
        except BaseException:
            if cause:
                raise error from cause
            raise
    except BaseException as raised:
        return "".join(traceback.format_exception(raised)), str(raised)


@pytest.mark.parametrize(
    ("trace", "message", "name"),
    [
        (*fail(ValueError("negative total -5.0")), "ValueError"),
        (*fail(KeyError("rate_XXX")), "KeyError"),
        (*fail(TypeError("carrier is null\nexpected string")), "TypeError"),
        (*fail(TypeError("carrier is null\nConnectionError: expected")), "TypeError"),
        (*fail(Refused("no"), cause=ConnectionError("refused")), "Refused"),
        # The message holds a trace of its own, as that of a failed subprocess does.
        (*fail(RuntimeError(f"it said:\n{fail(OSError('disk full'))[0]}")), "RuntimeError"),
        (*fail(ExceptionGroup("many", [ValueError("a"), KeyError("b")])), "ExceptionGroup"),
        # Nothing stands after the name.
        (*fail(TimeoutError()), "TimeoutError"),
        ("something else entirely", "no trace", ""),
        ("", "no trace", ""),
    ],
)
def test_the_type_is_the_one_that_was_raised_in_the_end(trace: str, message: str, name: str) -> None:
    assert (find_error_type(trace, message) or find_by_trace(trace)) == name
