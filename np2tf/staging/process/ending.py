"""The end of a program while XLA still compiles in a thread of np2tf's own: the process ends at once.

Nothing can interrupt XLA, and Python may not end while such a thread is inside TensorFlow. So where np2tf
runs the whole program (`np2tf run`), what Python does at the end is done, and the process ends without
waiting. Elsewhere nothing is compiled beside the program.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class _Ending:
    """How this process ends.

    Attributes:
        is_ours: whether np2tf runs the whole program, so that it may end the process.
        busy: the number of threads that are inside TensorFlow and may not be waited for.
    """

    is_ours = False
    busy = 0


ending = _Ending()


def run_to_the_end(action: Callable[[], Any]) -> Any:
    """Run a whole program; if a thread is busy at its end, end the process as Python would, but at once."""
    ending.is_ours = True
    try:
        result = action()
    except SystemExit as exit_:
        if ending.busy:
            _end(_status(exit_.code))
        raise
    if ending.busy:
        _end(0)
    return result


def _status(code: Any) -> int:
    """Return the exit status that stands for the value of a SystemExit, as Python does."""
    if code is None or isinstance(code, int):
        return (code or 0) & 0xFF
    print(code, file=sys.stderr)
    return 1


def _end(status: int) -> None:
    threading._shutdown()  # type: ignore[attr-defined]  # waits for the program's threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(status)
