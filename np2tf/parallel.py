"""Work on many files by several processes, in order."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")

#: So many items a process gets at a time, at most.
_CHUNK = 16


def in_processes(work: Callable[[Item], Made], items: Sequence[Item], jobs: int) -> Iterator[Made]:
    """What `work` makes of each item, in the order of the items; with one job, in this process."""
    jobs = min(jobs, len(items))
    if jobs <= 1:
        yield from map(work, items)
        return
    context = multiprocessing.get_context("fork" if _may_fork() else "spawn")
    chunk = max(1, min(_CHUNK, len(items) // (4 * jobs)))
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        yield from pool.map(work, items, chunksize=chunk)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _may_fork() -> bool:
    """Whether a copy of this process would be a whole one: threads are not copied."""
    return sys.platform == "linux" and threading.active_count() == 1 and "tensorflow" not in sys.modules
