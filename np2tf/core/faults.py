"""Faults of np2tf's own, which never end a program.

np2tf decides, measures, caches and reports beside a program, which works without all of that. Whatever fails
there is noted here, and the program goes on as it would without np2tf: a call stays on the host. Code of the
program never runs in a block whose exceptions end here, so its own exceptions pass unchanged.
"""

from __future__ import annotations

import os
import types

from np2tf.core.late import TensorFlowMissingError, installation
from np2tf.core.own_warnings import PACKAGE_FOLDER, program_place, warn_at
from np2tf.core.signals import pass_on

#: The code of a fault.
CODE = "NP2TF905"
#: The number of places for which a fault is reported.
_MOST = 100
_PACKAGE = PACKAGE_FOLDER + os.sep
_reported: set[tuple[str, int]] = set()


class FaultWarning(UserWarning):
    """Warns that np2tf itself has failed, and that the program goes on without it."""


def note_fault(error: Exception, code: types.CodeType | None = None, name: str = "") -> None:
    """Record a fault, and warn once for each place in np2tf.

    This raises nothing but an exception of a signal's handler (`pass_on`).

    Args:
        code: the code of the program's function for which np2tf was at work; None if it was for none.
        name: the name of the function, if its code has another name.
    """
    pass_on(error)
    try:
        from np2tf.core.counts import Fallback, counts  # loaded only here: most programs meet no fault

        if isinstance(error, TensorFlowMissingError):
            installation.warn()
            return
        place = _place_in_np2tf(error)
        if place in _reported or len(_reported) >= _MOST:
            return
        _reported.add(place)
        path, line = program_place() if code is None else (code.co_filename, code.co_firstlineno)
        name = name or ("the program" if code is None else code.co_name)
        message = (str(error).splitlines() or [""])[0]
        reason = f"internal error: {type(error).__name__}: {message} (np2tf/{place[0]}:{place[1]})"
        counts.fell_back(Fallback(name, reason, CODE, path, line))
        consequence = "np2tf continues without it" if code is None else f"{name} runs on NumPy"
        warn_at(f"{CODE} {path}:{line}: {consequence}: {reason}", FaultWarning, path, line)
    except Exception:  # there is nothing left to tell it to
        return


def _place_in_np2tf(error: Exception) -> tuple[str, int]:
    """Return the file of np2tf, below its folder, and the line where an exception arose or passed last."""
    place, traceback = ("<unknown>", 0), error.__traceback__
    while traceback is not None:
        path = traceback.tb_frame.f_code.co_filename
        if path.startswith(_PACKAGE):
            place = path[len(_PACKAGE) :], traceback.tb_lineno
        traceback = traceback.tb_next
    return place
