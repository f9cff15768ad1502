"""What an error tells of why a function cannot be staged: a code, words, and a line of the user's."""

from __future__ import annotations

import types

from np2tf.staging import RecursionLimitError, StagingError


def first_line(error: Exception) -> str:
    """The error's message, or its name where it has none."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__


def code_of(error: Exception) -> str:
    """The code of a diagnostic."""
    kind = RecursionLimitError if isinstance(error, RecursionError) else StagingError
    return getattr(error, "code", kind.code)


def place_of(error: Exception, code: types.CodeType) -> tuple[str, int]:
    """File and line of the user's code where `error` arose, at or below this `code`, or that it names."""
    known = getattr(error, "place", None)
    if known is not None:
        return known  # type: ignore[no-any-return]
    line, traceback = code.co_firstlineno, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == code.co_filename:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return code.co_filename, line
