"""Who else may write to the program's arrays and objects while a compiled call runs.

In NumPy a statement writes the elements that it names. A compiled call writes at its end, so it must not
write back elements that it has only read: another thread may have written them in the meantime, or another
process if the memory is shared.
"""

from __future__ import annotations

import _thread
import ctypes
import threading
from typing import Any

import numpy as np

from np2tf.core.signals import own_handlers

_count_threads = _thread._count


class OwnThreads:
    """Counts the threads that np2tf has started, which write to no array of the program."""

    count = 0


def other_threads_run() -> bool:
    """Return whether the program has threads beside the main thread."""
    return _count_threads() > OwnThreads.count


def is_main_thread() -> bool:
    """Return whether this is the thread in which Python calls the handlers of signals."""
    return _thread.get_ident() == threading.main_thread().ident


def handles_signals() -> bool:
    """Return whether the program has set a handler of its own for a usual signal."""
    return bool(own_handlers())


def has_foreign_memory(array: np.ndarray) -> bool:
    """Return whether an array lies in memory that NumPy does not own: a mapped file, shared memory, a buffer
    of another library.
    """
    base: Any = array
    while issubclass(type(base), np.ndarray):
        if base.flags.owndata:
            return False
        base = base.base
    # The memory of a result that was handed over without a copy belongs to the tensor that made it, and no
    # other program knows that tensor (`ZeroCopyResults`).
    return base is not None and not (isinstance(base, ctypes.Array) and hasattr(base, "tensor"))


def may_be_written_by_others(array: Any) -> bool:
    """Return whether another thread or process may write to an array on the host at any time."""
    # An array on TensorFlow passes for an instance of np.ndarray, too.
    on_host = issubclass(type(array), np.ndarray)
    return on_host and (other_threads_run() or has_foreign_memory(array))
