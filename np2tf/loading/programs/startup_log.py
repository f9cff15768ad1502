"""Keeps TensorFlow's start-up log from the terminal if np2tf imports TensorFlow for a program.

TensorFlow writes a part of that log before any setting can stop it. So while TensorFlow is imported and its
devices are listed, file descriptor 2 leads to a temporary file. The log is shown if the import fails or ends
the process. Other output is shown after the import. An import by the program itself is not changed.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from types import ModuleType

from np2tf.arrays.front.tensorflow_loading import contexts, first_compilation_contexts

#: A line of the log, wherever it begins. Only C++ sources write it: Python programs that log in the same
#: format name a `.py` file. Fatal errors (F) do not match.
_LOG_LINE = re.compile(
    rb"(?:[IWE]\d{4} \d\d:\d\d:\d\d[^\n\]]*|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWE] )"
    rb"[\w./+-]+\.(?:cc|cpp|cu|h|hpp):\d+\] [^\n]*\n"
    rb"|WARNING: All log messages before absl::InitializeLog\(\) is called are written to STDERR\n"
    rb"|To enable the following instructions: [^\n]*rebuild TensorFlow with the appropriate [^\n]*\n"
)
#: The guard waits for a word. If no word comes, this process has died, and the guard prints the held output.
_GUARD = """
exec 3<&0
( trap '' INT HUP TERM; read -r word <&3; [ -n "$word" ] || cat "$1" >&2; rm -f "$1" ) >/dev/null &
"""
#: Earlier versions of TensorFlow log their first compilation in spite of TF_CPP_MIN_LOG_LEVEL.
_QUIET_COMPILATION = (2, 21)
_lock = threading.Lock()


def keep_quiet() -> None:
    """Hide the start-up log in np2tf's imports of TensorFlow from now on; errors in the log are shown."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    if not is_quiet():
        contexts.append(_hold_import)


def is_quiet() -> bool:
    """Return whether `keep_quiet` has been called."""
    return _hold_import in contexts


@contextlib.contextmanager
def _hold_import(module: ModuleType) -> Iterator[None]:
    """Hold the log while TensorFlow is imported, and while it lists its devices."""
    with hold_log():
        yield
        with contextlib.suppress(Exception):  # an error is raised again when a device is used
            devices = importlib.import_module("tensorflow.python.framework.config")
            devices.list_physical_devices()  # logs that there is no driver
    if _version(module) < _QUIET_COMPILATION:
        first_compilation_contexts.append(_hold_compilation)


@contextlib.contextmanager
def _hold_compilation() -> Iterator[None]:
    """Hold the log of the first compilation. A failed call is repeated, and is no reason to show the log."""
    with _lock:
        hold = _Hold.begin()
    try:
        yield
    finally:
        if hold is not None:
            hold.end()


def _version(module: ModuleType) -> tuple[int, ...]:
    parts = re.findall(r"\d+", getattr(module, "__version__", ""))
    return tuple(int(part) for part in parts[:2]) or _QUIET_COMPILATION


@contextlib.contextmanager
def hold_log() -> Iterator[None]:
    """Hold file descriptor 2. If no exception occurs, drop TensorFlow's log lines from the held output."""
    with _lock:
        hold = _Hold.begin()
    if hold is None:
        yield
        return
    try:
        yield
    except BaseException as error:
        hold.end(all_of_it=isinstance(error, Exception))  # Ctrl-C is not a failure
        raise
    hold.end()


class _Hold:
    """Redirects file descriptor 2 into a file until `end`."""

    _current: _Hold | None = None

    def __init__(self) -> None:
        self._real = os.dup(2)
        try:
            self._file, self._path = tempfile.mkstemp(prefix="np2tf-log-")
        except OSError:
            os.close(self._real)
            raise
        self._reader = os.open(self._path, os.O_RDONLY)
        self._guard = self._start_guard()
        _flush()
        os.dup2(self._file, 2)

    @classmethod
    def begin(cls) -> _Hold | None:
        """Begin a hold and return it; None if there is already a hold, no descriptor 2, or no place for a
        file.
        """
        if cls._current is not None:
            return None
        with contextlib.suppress(OSError):
            cls._current = cls()
            return cls._current
        return None

    def _start_guard(self) -> int | None:
        """Return the writing end of a pipe on which a guard waits; None if there is no guard."""
        if os.name != "posix":
            return None
        read_end, write_end = os.pipe()
        try:
            words = ["/bin/sh", "-c", _GUARD, "sh", self._path]
            subprocess.run(words, stdin=read_end, stdout=subprocess.DEVNULL, stderr=self._real)
        except OSError:
            os.close(write_end)
            return None
        finally:
            os.close(read_end)
        return write_end

    def end(self, all_of_it: bool = False) -> None:
        """Restore the descriptor and show the held output, without TensorFlow's log unless `all_of_it` is
        true.
        """
        _flush()
        with contextlib.suppress(OSError):  # the descriptor may have been closed meanwhile
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
        """Show the output since the last call."""
        text = b""
        with contextlib.suppress(OSError):
            while data := os.read(self._reader, 1 << 20):
                text += data
            text = text if all_of_it else _LOG_LINE.sub(b"", text)
            while text:
                text = text[os.write(2, text) :]


def _flush() -> None:
    with contextlib.suppress(Exception):  # the program may have replaced sys.stderr by any object
        sys.stderr.flush()
