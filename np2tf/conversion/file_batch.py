"""Translate the files of one command: the cache has known results, workers translate other files."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from np2tf.conversion.tasks import Task, TaskResult, failure, run_task
from np2tf.conversion.unchanged_files import UnchangedFiles

#: The number of bytes that one process translates in 0.2 s, the time that workers take to start.
_WORTH_WORKERS = 48 * 1024


def convert_files(
    tasks: Sequence[Task], jobs: int | None, unchanged_files: UnchangedFiles
) -> Iterator[TaskResult]:
    """Yield the results of the files, in the order of the files.

    Args:
        tasks: the files.
        jobs: the number of processes; None takes one per processor if the files are large enough.
        unchanged_files: the files that a translation is known not to change.
    """
    lookups = [unchanged_files.find(task) for task in tasks]
    new_tasks = [task for task, result in zip(tasks, lookups) if result is None]
    with closing(_worked_on(new_tasks, jobs)) as results:
        for task, result in zip(tasks, lookups):
            if result is None:
                result = next(results)
                unchanged_files.keep(task, result)
            yield result


def _worked_on(tasks: Sequence[Task], jobs: int | None) -> Generator[TaskResult, None, None]:
    """Yield the results of files that the cache does not know."""
    from np2tf.conversion.workers import cores, in_order  # not loaded where all is known

    if jobs is None:
        jobs = cores() if sum(len(task.data) for task in tasks) > _WORTH_WORKERS else 1
    yield from in_order(run_task, _crash_result, tasks, max(1, min(jobs, len(tasks))))


def _crash_result(task: Task, error: BaseException) -> TaskResult:
    return failure(task.path, error)
