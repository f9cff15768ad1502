"""Do tasks on several processes, and return their results in order.

A worker that dies (killed, out of memory, a crash of the interpreter) does not say which task was the cause.
Therefore all tasks that were under way are done again, each in its own process, and the task that fails there
is reported.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.context import BaseContext
from typing import Generic, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")

#: Tasks per worker that are under way or queued: enough that no worker is idle while the caller waits for
#: an earlier result.
_AHEAD = 4
#: The modules that a process loads before workers are forked from it.
_PRELOADED_MODULES = ["np2tf.translator.batch.one_file"]


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def preload() -> None:
    """Begin to load the translator in the process to fork from, if any, while the caller reads files."""
    if _context().get_start_method() == "forkserver":
        from multiprocessing import forkserver

        forkserver.ensure_running()


def in_order(
    work: Callable[[In], Out],
    make_failure: Callable[[In, BaseException], Out],
    tasks: Iterable[In],
    jobs: int,
) -> Generator[Out, None, None]:
    """Yield the result of `work` for each task, in order; where a worker fails, that of `make_failure`.

    `work` must be a function of a module. Tasks are taken as workers become free; `jobs=1` is this process.
    """
    if jobs == 1:
        for task in tasks:
            try:
                result = work(task)
            except Exception as error:
                result = make_failure(task, error)
            yield result
        return
    pool = _Pool(work, make_failure, jobs)
    try:
        queue = iter(tasks)
        while pool.fill(queue):
            yield pool.next()
    finally:
        pool.close()


class _Pool(Generic[In, Out]):
    """Worker processes, and the tasks that they are doing."""

    def __init__(
        self, work: Callable[[In], Out], make_failure: Callable[[In, BaseException], Out], jobs: int
    ) -> None:
        self._work = work
        self._make_failure = make_failure
        self._jobs = jobs
        self._context = _context()
        self._executor = self._start_pool(jobs)
        self._under_way: deque[tuple[In, Future[Out]]] = deque()

    def fill(self, waiting_tasks: Iterator[In]) -> bool:
        """Hand out tasks. Return whether there are any results left to wait for."""
        while len(self._under_way) < self._jobs * _AHEAD:
            task = next(waiting_tasks, None)
            if task is None:
                break
            self._under_way.append((task, self._submit(task)))
        return bool(self._under_way)

    def next(self) -> Out:
        """Return the result of the oldest task."""
        task, future = self._under_way[0]
        try:
            result = future.result()
        except BrokenProcessPool:
            self._do_again()
            result = self._under_way[0][1].result()
        except Exception as error:
            result = self._make_failure(task, error)
        self._under_way.popleft()
        return result

    def close(self) -> None:
        """Let the workers finish their current tasks, and end them."""
        self._executor.shutdown(cancel_futures=True)

    def _submit(self, task: In) -> Future[Out]:
        try:
            return self._executor.submit(self._work, task)
        except BrokenProcessPool as error:
            future: Future[Out] = Future()
            future.set_exception(error)
            return future

    def _do_again(self) -> None:
        """Do the tasks that were under way when a worker died, each by itself; continue with new workers."""
        self._executor.shutdown(wait=True)
        for index, (task, future) in enumerate(self._under_way):
            if isinstance(future.exception(), BrokenProcessPool):
                self._under_way[index] = task, self._alone(task)
        self._executor = self._start_pool(self._jobs)

    def _alone(self, task: In) -> Future[Out]:
        future: Future[Out] = Future()
        with self._start_pool(1) as executor:
            try:
                future.set_result(executor.submit(self._work, task).result())
            except BrokenProcessPool:
                future.set_result(
                    self._make_failure(task, ChildProcessError("the process that translated the file died"))
                )
            except Exception as error:
                future.set_result(self._make_failure(task, error))
        return future

    def _start_pool(self, jobs: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(jobs, self._context, initializer=_begin)


def _context() -> BaseContext:
    """Return the way to start workers: if possible, forked from a process that has loaded the translator."""
    if "forkserver" not in multiprocessing.get_all_start_methods() or sys.platform == "darwin":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED_MODULES)
    return context


def _begin() -> None:
    """Prepare a worker: Ctrl-C ends it silently, and it ends with its parent."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)
