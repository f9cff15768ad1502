"""The names of NumPy that the files of one command import from one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from np2tf.conversion.passed_on import passed_on
from np2tf.conversion.tasks import Task
from np2tf.linking.reexports import reexports_of


def with_shared_names(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks with the names that each file binds for other files, and imports from them."""
    contents = [(task.path, task.data) for task in tasks]
    names, reexports = passed_on(contents), reexports_of(contents)
    return [
        replace(
            task,
            options=replace(
                task.options, passed_on=names.get(task.path, ()), reexports=reexports.get(task.path, ())
            ),
        )
        if task.path in names or task.path in reexports
        else task
        for task in tasks
    ]
