"""Deliver the translations of `np2tf convert`: print patches, name files, or write files."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import click

from np2tf.commands import output
from np2tf.conversion.tasks import Patch, Task, TaskResult
from np2tf.diagnostics import CLEAN, FINDINGS, INTERNAL
from np2tf.disk.outcome import problem
from np2tf.disk.writing import write


class Delivery(Protocol):
    """The interface of all deliveries: an action for each file, and an action at the end."""

    patch: Patch
    """The kind of patch that the delivery needs."""
    verb: str
    """The words by which the summary counts the files that change."""
    is_written: bool
    """True if a changed file has been written, so that nothing is left to do for it."""

    def take(self, task: Task, result: TaskResult) -> None:
        """Print or write one file.

        Raises:
            OSError: the file cannot be written.
        """

    def finish(self) -> None:
        """Print the output that could not be printed before."""


class Diffs:
    """Prints patches on standard output. On a terminal it prints all at once, to know whether they fill a
    page.
    """

    verb = "would change"
    is_written = False

    def __init__(self) -> None:
        self.patch: Patch = "text" if sys.stdout.isatty() else "bytes"
        self._patches: list[bytes] = []

    def take(self, task: Task, result: TaskResult) -> None:
        """Print the patch, or keep it for `finish`."""
        if self.patch == "text":
            self._patches.append(result.patch)
        elif result.patch:
            output.write_bytes(result.patch)

    def finish(self) -> None:
        """Show the patches that were kept."""
        if any(self._patches):
            output.show_patch(b"".join(self._patches).decode("utf-8", "replace"))


class Names:
    """Prints the names of the files that would change."""

    patch: Patch = "none"
    verb = "would change"
    is_written = False

    def take(self, task: Task, result: TaskResult) -> None:
        """Print the name."""
        if result.changed:
            click.echo(f"{click.format_filename(result.path)}: would change")

    def finish(self) -> None:
        """Nothing is left to print."""


class InPlace:
    """Replaces each file by its translation."""

    patch: Patch = "none"
    verb = "changed"
    is_written = True

    def take(self, task: Task, result: TaskResult) -> None:
        """Write the translation.

        Raises:
            OSError: the file has changed since it was read, or cannot be written.
        """
        if not result.changed:
            return
        if task.path.read_bytes() != task.data:
            raise OSError(None, "it was changed while it was translated")
        write(task.path, result.data)

    def finish(self) -> None:
        """Everything is written."""


class Elsewhere:
    """Writes the translations, and the files that do not change, into another folder."""

    patch: Patch = "none"
    verb = "changed"
    is_written = True

    def __init__(self, targets: dict[Path, Path], with_failed: bool) -> None:
        self._targets = targets
        self._with_failed = with_failed

    def take(self, task: Task, result: TaskResult) -> None:
        """Write the translation, or a copy of the file if it has no translation."""
        if result.failed and not self._with_failed:
            return
        target = self._targets[task.path]
        target.parent.mkdir(parents=True, exist_ok=True)
        write(target, result.data if result.changed else task.data, like=task.path)

    def finish(self) -> None:
        """Everything is written."""


class Stream:
    """Prints the single translation on standard output."""

    patch: Patch = "none"
    verb = "changed"
    is_written = True

    def take(self, task: Task, result: TaskResult) -> None:
        """Print the translation, or the program as it is if it has no translation."""
        output.write_bytes(result.data if result.changed else task.data)

    def finish(self) -> None:
        """Everything is printed."""


def deliver(delivery: Delivery, task: Task, result: TaskResult) -> TaskResult:
    """Print or write one file. A failure becomes a finding.

    Returns:
        The result of the task, without its texts.
    """
    try:
        delivery.take(task, result)
    except BrokenPipeError:
        raise
    except OSError as error:
        finding = problem("NP2TF906", result.path, error.strerror or str(error))
        result = replace(result, changed=False, diagnostics=[*result.diagnostics, finding])
    return replace(result, data=b"", patch=b"")


def status(outcomes: list[TaskResult], is_written: bool) -> int:
    """Return the exit status: 123 for np2tf's own fault, 1 if a file has failed or would change, else 0."""
    if any(outcome.crashed for outcome in outcomes):
        return INTERNAL
    left = any(outcome.failed or (outcome.changed and not is_written) for outcome in outcomes)
    return FINDINGS if left else CLEAN
