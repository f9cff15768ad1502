"""TensorFlow's start-up log, kept from the terminal where np2tf imports TensorFlow for a program.

A part of that log is written before any setting can stop it: file descriptor 2 is held in a temporary file
while TensorFlow is imported and its devices are listed. The log is shown where the import fails, or ends the
process. What others write meanwhile comes through afterwards. An import by the program itself is left alone.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib.abc
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from types import FrameType, ModuleType
from typing import Any

#: A line of the log, wherever it begins. Only C++ sources write it: Python programs that log in the same
#: format name a `.py` file. A fatal error (F) is none.
_LOGGED = re.compile(
    rb"(?:[IWE]\d{4} \d\d:\d\d:\d\d[^\n\]]*|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWE] )"
    rb"[\w./+-]+\.(?:cc|cpp|cu|h|hpp):\d+\] [^\n]*\n"
    rb"|WARNING: All log messages before absl::InitializeLog\(\) is called are written to STDERR\n"
    rb"|To enable the following instructions: [^\n]*rebuild TensorFlow with the appropriate [^\n]*\n"
)
#: Waits for a word; where none comes, this process has died, and the guard prints what it held.
_GUARD = """
exec 3<&0
( trap '' INT HUP TERM; read -r word <&3; [ -n "$word" ] || cat "$1" >&2; rm -f "$1" ) >/dev/null &
"""
_lock = threading.Lock()


class _Quiet(importlib.abc.MetaPathFinder):
    """Finds TensorFlow for np2tf's own imports, with a loader that holds the log."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec that the path has, if it is np2tf that imports TensorFlow."""
        if name != "tensorflow" or not _is_np2tf(sys._getframe(1)):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            _hold_in(spec.loader)
        return spec


_finder = _Quiet()


def keep_quiet() -> None:
    """From now on imports of TensorFlow by np2tf show no start-up log; errors in it remain."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def is_quiet() -> bool:
    """Whether `keep_quiet` has been called."""
    return _finder in sys.meta_path


def _is_np2tf(frame: FrameType | None) -> bool:
    """Whether np2tf has begun the import that led to a frame."""
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package != "importlib":
            return package == "np2tf"
        frame = frame.f_back
    return False


def _hold_in(loader: Any) -> None:
    """Let one loader's next import be held; the loader stays what it is."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        with held():
            execute(module)
            with contextlib.suppress(Exception):  # an error is told where somebody asks for a device
                module.config.list_physical_devices()  # logs that there is no driver

    loader.exec_module = exec_module


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold file descriptor 2; without an exception TensorFlow's log lines are dropped from what was held."""
    with _lock:
        hold = _Hold.begun()
    if hold is None:
        yield
        return
    try:
        yield
    except BaseException as error:
        hold.end(all_of_it=isinstance(error, Exception))  # Ctrl-C is no failure
        raise
    hold.end()


class _Hold:
    """What goes to file descriptor 2 goes into a file, until `end`."""

    _current: _Hold | None = None

    def __init__(self) -> None:
        self._real = os.dup(2)
        try:
            self._file, self._path = tempfile.mkstemp(prefix="np2tf-log-")
        except OSError:
            os.close(self._real)
            raise
        self._reader = os.open(self._path, os.O_RDONLY)
        self._guard = self._guarded()
        _flush()
        os.dup2(self._file, 2)

    @classmethod
    def begun(cls) -> _Hold | None:
        """A hold that has begun; None where there is one already, no descriptor 2, or no place for a file."""
        if cls._current is not None:
            return None
        with contextlib.suppress(OSError):
            cls._current = cls()
            return cls._current
        return None

    def _guarded(self) -> int | None:
        """The writing end of a pipe on which a guard waits; None where there is no guard."""
        if os.name != "posix":
            return None
        reading, writing = os.pipe()
        try:
            words = ["/bin/sh", "-c", _GUARD, "sh", self._path]
            subprocess.run(words, stdin=reading, stdout=subprocess.DEVNULL, stderr=self._real)
        except OSError:
            os.close(writing)
            return None
        finally:
            os.close(reading)
        return writing

    def end(self, all_of_it: bool = False) -> None:
        """Put the descriptor back, and show what was held; not TensorFlow's log, unless `all_of_it`."""
        _flush()
        with contextlib.suppress(OSError):  # it has been closed meanwhile
            if os.path.samestat(os.fstat(2), os.fstat(self._file)):
                os.dup2(self._real, 2)
        os.close(self._real)
        os.close(self._file)
        if self._guard is not None:
            with contextlib.suppress(OSError):
                os.write(self._guard, b"done\n")
            os.close(self._guard)
        else:
            with contextlib.suppress(OSError):  # on Windows: while it is open
                os.remove(self._path)
        self._show(all_of_it)
        # A process that was started meanwhile has the file as its own descriptor 2.
        atexit.register(self._show, True)
        with _lock:
            _Hold._current = None

    def _show(self, all_of_it: bool) -> None:
        """Show what has come since the last time."""
        text = b""
        with contextlib.suppress(OSError):
            while data := os.read(self._reader, 1 << 20):
                text += data
            text = text if all_of_it else _LOGGED.sub(b"", text)
            while text:
                text = text[os.write(2, text) :]


def _flush() -> None:
    with contextlib.suppress(Exception):  # whatever the program has put there
        sys.stderr.flush()
