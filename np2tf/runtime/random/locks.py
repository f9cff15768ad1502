"""Holds the locks of bit generators during a call.

NumPy before 2.4 has locks that a thread can acquire only once, and its methods acquire them: the holder
lends the lock to each method that draws. Later versions have reentrant locks.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

_REENTRANT = type(threading.RLock())


class _Thread(threading.local):
    """The locks that a thread holds and can acquire only once, by their ids."""

    def __init__(self) -> None:
        self.locks: dict[int, Any] = {}


_thread = _Thread()


@contextmanager
def hold_locks(all_bits: Sequence[Any]) -> Iterator[None]:
    """Hold the locks of bit generators, each once, in an order that all threads share."""
    locks = {id(bits.lock): bits.lock for bits in all_bits}
    with ExitStack() as stack:
        for key in sorted(locks):
            if isinstance(locks[key], _REENTRANT):
                stack.enter_context(locks[key])
            elif key not in _thread.locks:
                stack.enter_context(_hold(key, locks[key]))
        yield


@contextmanager
def _hold(key: int, lock: Any) -> Iterator[None]:
    with lock:
        _thread.locks[key] = lock
        try:
            yield
        finally:
            del _thread.locks[key]


@contextmanager
def lend_lock(bits: Any) -> Iterator[None]:
    """Release the lock of a bit generator, if this thread holds it, for a method that acquires it."""
    lock = _thread.locks.pop(id(bits.lock), None)
    if lock is None:
        yield
        return
    lock.release()
    try:
        yield
    finally:
        lock.acquire()
        _thread.locks[id(lock)] = lock
