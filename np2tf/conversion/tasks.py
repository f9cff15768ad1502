"""The translation of one file as a task that any process can do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from np2tf.diagnostics import Diagnostic
from np2tf.disk.outcome import Outcome, has_failed, is_own_fault, problem, reason_of
from np2tf.disk.patches import patch_of, patch_text
from np2tf.linking.summary import ModuleSummary
from np2tf.options import Options

#: The kind of patch to make: none, of the files' bytes (for programs), or of their text (for people).
Patch = Literal["none", "bytes", "text"]


@dataclass(frozen=True)
class Task:
    """One file: its bytes, and how to translate it."""

    path: Path
    root: Path
    data: bytes = field(repr=False)
    options: Options
    is_safe: bool = True
    patch: Patch = "none"


@dataclass(frozen=True)
class TaskResult:
    """The result of one task, as plain data that processes can exchange."""

    path: Path
    diagnostics: list[Diagnostic]
    changed: bool = False
    data: bytes = field(default=b"", repr=False)
    """The translation; empty if the file does not change."""
    patch: bytes = field(default=b"", repr=False)
    summary: ModuleSummary | None = field(default=None, repr=False)
    """What other files need to know of this file; None if it has not been translated."""

    @property
    def failed(self) -> bool:
        """Return whether the file could not be translated."""
        return has_failed(self.diagnostics)

    @property
    def crashed(self) -> bool:
        """Return whether np2tf itself failed on the file."""
        return is_own_fault(self.diagnostics)


def run_task(task: Task) -> TaskResult:
    """Do a task. Every failure becomes a diagnostic."""
    from np2tf.files import translated_bytes  # loads the translator

    outcome = translated_bytes(task.data, task.path, task.root, task.options, task.is_safe)
    return _result(task, outcome)


def run_tasks(tasks: Sequence[Task]) -> list[TaskResult]:
    """Do the tasks of files that are translated together. Every failure becomes a diagnostic."""
    if len(tasks) == 1:
        return [run_task(tasks[0])]
    from np2tf.conversion.programs import translated_together  # loads the translator

    files = [(task.data, task.path, task.root) for task in tasks]
    outcomes = translated_together(files, [task.options for task in tasks], tasks[0].is_safe)
    return [_result(task, outcome) for task, outcome in zip(tasks, outcomes)]


def _result(task: Task, outcome: Outcome) -> TaskResult:
    """Return the outcome of a task as plain data."""
    from np2tf.files import summary_of

    summary = summary_of(outcome, task.options) if task.options.target == "np2tf" else None
    if not outcome.changed:
        return TaskResult(task.path, outcome.diagnostics, summary=summary)
    patch = b""
    if task.patch == "bytes":
        patch = patch_of(task.path, task.data, outcome.data)
    elif task.patch == "text":
        text = patch_text(task.path.as_posix(), outcome.before, outcome.after)
        patch = text.encode("utf-8", "surrogateescape")
    return TaskResult(task.path, outcome.diagnostics, True, outcome.data, patch, summary)


def failure(path: Path, error: BaseException) -> TaskResult:
    """Return the result of a task that raised an exception."""
    return TaskResult(path, [problem("NP2TF905", path, reason_of(error))])
