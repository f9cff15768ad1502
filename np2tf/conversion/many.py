"""The files of one command: what is known of them is looked up, the rest is worked on."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing

from np2tf.conversion.tasks import Done, Task, done, failure
from np2tf.conversion.unchanged import Unchanged

#: Workers take about 0.2 s to start, in which one process translates so many bytes and more.
_WORTH_WORKERS = 48 * 1024


def convert_files(tasks: Sequence[Task], jobs: int | None, unchanged: Unchanged) -> Iterator[Done]:
    """What has become of the files, in their order.

    Args:
        tasks: the files.
        jobs: how many processes; None is as many as there are processors, if there is work for them.
        unchanged: the files that are known to stay as they are.
    """
    known = [unchanged.find(task) for task in tasks]
    rest = [task for task, found in zip(tasks, known) if found is None]
    with closing(_worked_on(rest, jobs)) as results:
        for task, found in zip(tasks, known):
            if found is None:
                found = next(results)
                unchanged.keep(task, found)
            yield found


def _worked_on(tasks: Sequence[Task], jobs: int | None) -> Generator[Done, None, None]:
    """What becomes of files of which nothing is known."""
    from np2tf.conversion.workers import cores, in_order  # not loaded where all is known

    if jobs is None:
        jobs = cores() if sum(len(task.data) for task in tasks) > _WORTH_WORKERS else 1
    yield from in_order(done, _crash_result, tasks, max(1, min(jobs, len(tasks))))


def _crash_result(task: Task, error: BaseException) -> Done:
    return failure(task.path, error)
