"""The limit of one trace: of time, of operations, and of memory.

Each operation that the trace creates is counted, wherever it is created: in unrolled loops, in the bodies of
loops and branches, in callees, and in graphs that are thrown away. What becomes of the graph afterwards (the
conversion for TensorFlow's runtime, XLA's compilation, which nothing can interrupt) takes time and memory in
proportion to its operations.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from np2tf.staging import TraceSizeError, TracingTimeError

#: The number of operations that a trace may create. On an idle machine 1,000 operations take about 0.1 s to
#: trace and 0.4 s to compile, and 70 MB of memory. The graph of a transformer with 24 layers has 5,000.
MOST_OPERATIONS = 40_000
#: A trace may make the process larger by this share of the machine's memory, or by LEAST_BYTES.
SHARE_OF_MEMORY, LEAST_BYTES = 1 / 8, 1 << 30
#: The clock is read once in so many operations, and the process's memory once in so many.
_CLOCK, _MEMORY = 32, 1024


class TraceLimit:
    """The limit of one trace.

    Args:
        deadline: the time, by `time.monotonic`, at which it is given up; None for never.
    """

    def __init__(self, deadline: float | None) -> None:
        self._deadline = deadline
        self._operations = 0
        self._least_bytes = _resident_bytes()
        self._error: TracingTimeError | TraceSizeError | None = None

    def note_operation(self) -> None:
        """Count an operation.

        Raises:
            TracingTimeError: if the trace takes too long.
            TraceSizeError: if it has too many operations, or takes too much memory.
        """
        self._operations += 1
        if self._error is None and self._operations % _CLOCK == 0:
            self._error = self._find_error()
        if self._error is not None:
            # Whatever is tried instead in the same trace ends at once, too.
            raise type(self._error)(self._error.reason)

    def _find_error(self) -> TracingTimeError | TraceSizeError | None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            return TracingTimeError("tracing it takes longer than it has run so far")
        if self._operations > MOST_OPERATIONS:
            return TraceSizeError(f"tracing it makes more than {MOST_OPERATIONS} operations")
        if self._operations % _MEMORY == 0:
            grown_by = _resident_bytes() - self._least_bytes
            if grown_by > max(SHARE_OF_MEMORY * _memory_of_machine(), LEAST_BYTES):
                return TraceSizeError(f"tracing it takes {grown_by >> 20} MB of memory")
        return None


class _Current(threading.local):
    """The limit of the trace of this thread."""

    limit: TraceLimit | None = None


_current = _Current()


@contextmanager
def limited(limit: TraceLimit) -> Iterator[None]:
    """Count the operations that this thread creates within the block."""
    before, _current.limit = _current.limit, limit
    try:
        yield
    finally:
        _current.limit = before


def note_operation() -> None:
    """Count an operation of this thread's trace, if there is one.

    Raises:
        TracingTimeError, TraceSizeError: if the trace exceeds its limit.
    """
    if _current.limit is not None:
        _current.limit.note_operation()


def _resident_bytes() -> int:
    """Return the memory that the process has in use; 0 on systems that do not say so."""
    with suppress(OSError, IndexError, ValueError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def _memory_of_machine() -> int:
    with suppress(AttributeError, ValueError, OSError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 0
