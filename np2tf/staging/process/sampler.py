"""Where a program's main thread spends its time, told by samples of its stack.

A thread of np2tf's own looks at the stack every few milliseconds. The program runs as it does without the
samples, and no part of its time is left out: each sample stands for the seconds since the last one.
"""

from __future__ import annotations

import _thread
import os
import re
import sys
import sysconfig
import time
import types
from typing import Any, NamedTuple

from np2tf.core.faults import note_fault
from np2tf.core.own_warnings import PACKAGE_FOLDER
from np2tf.core.settings import program
from np2tf.staging.process.concurrency import OwnThreads

#: The seconds between two samples.
PERIOD = 0.005
#: Of a deep stack, so many of the program's innermost frames are kept.
DEEPEST = 40
#: So many different stacks are told apart.
MOST_STACKS = 20_000

#: What the main thread does: Python's and NumPy's work for the program, compiled code, and so on.
NUMPY, COMPILED, EAGER = "numpy", "compiled", "eager"
TRANSLATING, TRACING, XLA, IMPORTING = "translating", "tracing", "xla", "importing"
OWN, ELSEWHERE = "np2tf", "elsewhere"

#: The functions of np2tf that tell what is done: their file and name.
_MARKS = {
    ("staging/tiers/call_context.py", "load"): IMPORTING,
    ("arrays/front/tensorflow_loading.py", "load"): IMPORTING,
    ("staging/compile/concrete_function.py", "__init__"): TRACING,
    ("staging/compile/concrete_function.py", "retrace"): TRACING,
    ("staging/host/waiting.py", "translate"): TRANSLATING,
    ("staging/host/watched_loops.py", "functions"): TRANSLATING,
    ("loading/import_hook.py", "get_code"): TRANSLATING,
    ("staging/xla/supervision.py", "_compile_ahead"): XLA,
    ("staging/xla/supervision.py", "_in_time"): COMPILED,
    ("staging/xla/supervision.py", "_in_a_thread"): COMPILED,
}
#: The same for functions in which others of these may run, which know better.
_OUTER_MARKS = {
    ("staging/compile/compiler.py", "_first_call"): XLA,
    ("staging/compile/concrete_function.py", "__call__"): COMPILED,
}
#: Folders of np2tf whose functions do NumPy's work.
_OF_ARRAYS = ("arrays", "tnp", "scipy", "random.py", "nn.py", "ragged.py")
_LIBRARIES = tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib"))
_PACKAGES = re.compile(r"[/\\](?:site|dist)-packages[/\\]([^/\\.]+)")

_PROGRAM, _MARK, _OUTER_MARK, _OWN, _LIBRARY = range(5)


class Stack(NamedTuple):
    """What the main thread was found to do.

    Attributes:
        kind: one of the kinds above.
        library: the package whose code ran, if the kind is "elsewhere".
        lines: the files and lines of the program's running functions, the innermost first.
    """

    kind: str
    library: str
    lines: tuple[tuple[str, int], ...]


class Sampler:
    """Takes samples of the main thread, from its creation until `stop`.

    Attributes:
        seconds: the seconds of each stack that was found.
    """

    def __init__(self) -> None:
        self.seconds: dict[Stack, float] = {}
        self._thread = _thread.get_ident()
        # What runs already is no part of the program.
        self._roles = {frame.f_code: (_OWN, OWN) for frame in _frames_from(sys._getframe())}
        self._is_over = False
        self._has_ended = _thread.allocate_lock()
        self._has_ended.acquire()
        self._last = time.perf_counter()
        _thread.start_new_thread(self._sample, ())

    def stop(self) -> None:
        """Take no more samples. The time since the last sample counts as np2tf's own."""
        if not self._is_over:
            self._is_over = True
            self._has_ended.acquire()
            end = Stack(OWN, "", ())
            self.seconds[end] = self.seconds.get(end, 0.0) + time.perf_counter() - self._last

    def _sample(self) -> None:
        OwnThreads.count += 1
        try:
            while not self._is_over:
                time.sleep(PERIOD)
                frame = sys._current_frames().get(self._thread)
                if frame is None:  # the thread has ended
                    return
                stack = self._stack_of(frame)
                del frame
                now = time.perf_counter()
                if stack not in self.seconds and len(self.seconds) >= MOST_STACKS:
                    stack = stack._replace(lines=stack.lines[:1])
                self.seconds[stack] = self.seconds.get(stack, 0.0) + now - self._last
                self._last = now
        except Exception as error:  # the report ends here, and the program goes on
            note_fault(error)
        finally:
            OwnThreads.count -= 1
            self._has_ended.release()

    def _stack_of(self, innermost: types.FrameType) -> Stack:
        """Return what a stack tells: the outermost call below the program's innermost frame decides."""
        kind, library, outer_mark = OWN, "", ""
        lines: list[tuple[str, int]] = []
        is_below = True
        for frame in reversed(_frames_from(innermost)):
            role, what = self._role_of(frame)
            if role == _PROGRAM:
                code = frame.f_code
                lines.append((code.co_filename, frame.f_lineno or code.co_firstlineno))
                kind, library, outer_mark, is_below = NUMPY, "", "", False
            elif role == _MARK:
                return Stack(what, "", _innermost(lines))
            elif role == _OUTER_MARK:
                outer_mark = outer_mark or what
            elif not is_below:
                is_below = True
                kind, library = (what, "") if role == _OWN else _kind_of_library(what)
            elif kind == NUMPY and role == _LIBRARY and what == "tensorflow":
                kind = EAGER
        if outer_mark:
            kind, library = outer_mark, ""
        return Stack(kind, library, _innermost(lines))

    def _role_of(self, frame: types.FrameType) -> tuple[int, str]:
        code = frame.f_code
        role = self._roles.get(code)
        if role is None:
            role = self._roles[code] = _role_of(code.co_filename, code.co_name, frame.f_globals)
        return role


def _frames_from(frame: types.FrameType | None) -> list[types.FrameType]:
    """Return the frames of a stack, the innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _innermost(lines: list[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    return tuple(reversed(lines[-DEEPEST:]))


def _kind_of_library(name: str) -> tuple[str, str]:
    if name in ("numpy", "tensorflow"):
        return (NUMPY if name == "numpy" else EAGER), ""
    return ELSEWHERE, name


def _role_of(path: str, name: str, names: dict[str, Any]) -> tuple[int, str]:
    """Return the role of code, given its file, its name and its globals."""
    if path.startswith(PACKAGE_FOLDER + os.sep):
        below = path[len(PACKAGE_FOLDER) + 1 :].replace(os.sep, "/")
        key = below, name
        if key in _MARKS:
            return _MARK, _MARKS[key]
        if key in _OUTER_MARKS:
            return _OUTER_MARK, _OUTER_MARKS[key]
        return _OWN, NUMPY if below.startswith(_OF_ARRAYS) else OWN
    module = str(names.get("__name__", ""))
    if path.startswith("<"):
        return (
            (_LIBRARY, "importing modules") if "importlib" in path else (_LIBRARY, module.partition(".")[0])
        )
    loader = getattr(names.get("__spec__"), "loader", None)
    if isinstance(loader, program.loaders):
        return _PROGRAM, ""
    found = _PACKAGES.search(path)
    if found:
        return _LIBRARY, found[1]
    if path.startswith(_LIBRARIES):
        return _LIBRARY, module.partition(".")[0]
    return _PROGRAM, ""
