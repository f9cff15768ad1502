"""The cause of a failed staging that an error carries: a code, a message, and a line of the user's."""

from __future__ import annotations

import types

from np2tf.staging import CodedError, RecursionLimitError, StagingError


def first_line(error: Exception) -> str:
    """Return the first line of the error's message without its code, or the error's class if it has no
    message.
    """
    text = error.reason if isinstance(error, CodedError) else str(error)
    return (text.splitlines() or [""])[0] or type(error).__name__


def code_of(error: Exception) -> str:
    """Return the code of the diagnostic for an error."""
    kind = RecursionLimitError if isinstance(error, RecursionError) else StagingError
    return getattr(error, "code", kind.code)


def place_of(error: Exception, code: types.CodeType) -> tuple[str, int]:
    """Return the file and line that `error` names, or where it arose at or below this `code`."""
    place = getattr(error, "place", None)
    if place is not None:
        return place  # type: ignore[no-any-return]
    line, traceback = code.co_firstlineno, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == code.co_filename:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return code.co_filename, line
