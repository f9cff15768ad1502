"""Translate the files of one command: the cache has known results, workers translate other files."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from np2tf.conversion.import_groups import translation_groups
from np2tf.conversion.tasks import Task, TaskResult, failure, run_tasks
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
    known_results: dict[Path, TaskResult] = {}
    new_groups: list[list[Task]] = []
    for group in _groups(tasks):
        # The cache knows files that are translated alone.
        result = unchanged_files.find(group[0]) if len(group) == 1 else None
        if result is None:
            new_groups.append(group)
        else:
            known_results[group[0].path] = result
    with closing(_worked_on(new_groups, jobs)) as results:
        waiting_groups = iter(new_groups)
        for task in tasks:
            while task.path not in known_results:
                group, group_results = next(waiting_groups), next(results)
                known_results.update((result.path, result) for result in group_results)
                if len(group) == 1:
                    unchanged_files.keep(group[0], group_results[0])
            yield known_results.pop(task.path)


def _groups(tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the files that are translated together: for `--target tf`, files that import one another."""
    groups = translation_groups([(task.path, task.options) for task in tasks], lambda at: tasks[at].data)
    return [[tasks[position] for position in group] for group in groups]


def _worked_on(groups: Sequence[list[Task]], jobs: int | None) -> Generator[list[TaskResult], None, None]:
    """Yield the results of the files that the cache does not know."""
    from np2tf.conversion.workers import cores, in_order  # not loaded where all is known

    if jobs is None:
        size = sum(len(task.data) for group in groups for task in group)
        jobs = cores() if size > _WORTH_WORKERS else 1
    yield from in_order(run_tasks, _crash_results, groups, max(1, min(jobs, len(groups))))


def _crash_results(tasks: Sequence[Task], error: BaseException) -> list[TaskResult]:
    return [failure(task.path, error) for task in tasks]
