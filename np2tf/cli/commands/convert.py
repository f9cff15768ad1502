"""np2tf convert: translates files, and prints, writes or copies the results."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import click

from np2tf.cli import output
from np2tf.cli.commands.options import configurations_of, everything, file_choices, search_of
from np2tf.cli.configuration import TARGETS, Configurations
from np2tf.cli.files import FoundFile, name_of_standard_input, replace_file, write
from np2tf.cli.output import Bar
from np2tf.core.diagnostics import CLEAN, FINDINGS, INTERNAL, Diagnostic
from np2tf.translator.batch.batch import (
    Patch,
    Task,
    TaskResult,
    UnchangedFiles,
    convert_files,
    shared_file,
    with_shared_names,
)
from np2tf.translator.batch.outcome import problem
from np2tf.translator.sources.options import Options

# -- delivery ------------------------------------------------------------------------------------------------
# Deliver the translations of `np2tf convert`: print patches, name files, or write files.


class Delivery(Protocol):
    """The interface of all deliveries: an action for each file, and an action at the end."""

    patch: Patch
    """The kind of patch that the delivery needs."""
    verb: str
    """The words by which the summary counts the files that change."""
    is_written: bool
    """True if a changed file has been written, so that nothing is left to do for it."""

    def take(self, task: Task, result: TaskResult) -> None:
        """Print or write one file; raise OSError if it cannot be written."""

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
        self.has_notebooks = False
        self._patches: list[bytes] = []

    def take(self, task: Task, result: TaskResult) -> None:
        """Print the patch, or keep it for `finish`."""
        self.has_notebooks |= bool(result.patch) and task.path.suffix == ".ipynb"
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
        """Write the translation; raise OSError if the file has changed meanwhile, or cannot be written."""
        if not result.changed:
            return
        replace_file(task.path, task.data, result.data)

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
        target = self._targets.get(task.path)
        if target is None:  # a module that np2tf adds beside others
            other = next(path for path in self._targets if path.is_relative_to(task.root))
            way = os.path.relpath(task.path, other.parent)
            target = Path(os.path.normpath(self._targets[other].parent / way))
        target.parent.mkdir(parents=True, exist_ok=True)
        like = task.path if task.path in self._targets else None
        write(target, result.data if result.changed else task.data, like=like)

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
    """Print or write one file; a failure becomes a finding. Return the result without its texts."""
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


# -- trees ---------------------------------------------------------------------------------------------------
# Where the translations of a tree are written, and which other files of the tree are copied.


class TargetError(ValueError):
    """Translations cannot be written to a folder without a loss."""


def targets(files: Sequence[FoundFile], out: Path) -> dict[Path, Path]:
    """Return the target of each file, which has the same place below `out` as the file below its root.

    Raises:
        TargetError: two files have the same target, or a target is one of the source files.
    """
    source_by_target: dict[str, Path] = {}
    target_paths: dict[Path, Path] = {}
    sources = {os.path.realpath(file.path) for file in files}
    for file in files:
        target = out / file.path.relative_to(file.root)
        real = os.path.realpath(target)
        if real in source_by_target:
            raise TargetError(f"{source_by_target[real]} and {file.path} would both be written to {target}")
        if real in sources:
            raise TargetError(f"{target} is one of the sources; use `--write` to translate in place")
        source_by_target[real] = file.path
        target_paths[file.path] = target
    return target_paths


def copy(path: Path, target: Path) -> None:
    """Copy a file with its permissions and times; raise OSError if that fails."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(path, target)


# -- convert -------------------------------------------------------------------------------------------------
# `np2tf convert`: translate files.


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…")
@click.option("--diff", is_flag=True, help="Print a unified diff and write nothing (default).")
@click.option("--check", is_flag=True, help="List the files that would change and write nothing.")
@click.option("--write", is_flag=True, help="Change the files in place.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), help="Write the translations to this folder."
)
@click.option("--copy-other", is_flag=True, help="With --out: also copy all other files.")
@click.option("--stdin-filename", metavar="FILE", help="The file name to use for standard input.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    help="How many processes to use (one per processor if it pays off).",
)
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    help="What the output needs to run: np2tf (default), or tf for TensorFlow alone (docs/target-tf.md).",
)
@click.option(
    "--jit/--no-jit",
    default=None,
    help="Decorate functions with @np2tf.jit and lower control flow (default).",
)
@click.option("--line-length", type=int, help="The longest line (of ruff or Black in pyproject.toml, or 88).")
@click.option("--safe/--fast", default=True, help="Check each translation (default).")
@click.option("--no-cache", is_flag=True, help="Also translate files that the cache knows to stay unchanged.")
@file_choices
@everything
@click.option("-q", "--quiet", is_flag=True, help="Print neither findings nor the summary.")
def convert(paths: tuple[str, ...], **choices: Any) -> None:
    """Translate files, notebooks, and all of them in folders. `-` reads one program or notebook from standard
    input and prints its translation.

    Exit status: 0 nothing would change, or everything is written; 1 a file would change or cannot be
    translated; 2 wrong usage; 123 internal error.
    """
    _look_at(paths, choices)
    configurations = configurations_of(choices)
    if _wants_workers(paths, choices):
        from np2tf.translator.batch.workers import preload

        preload()
    unread: list[TaskResult] = []
    if "-" in paths:
        delivery = _delivery_to_output(choices) or Stream()
        tasks = _standard_input(configurations, choices, delivery)
    else:
        files = _find_files(paths, configurations, choices)
        delivery = _delivery_to_output(choices) or _delivery_to_files(files, choices)
        tasks, unread = _tasks([file for file in files if file.is_source], configurations, choices, delivery)
        if choices["copy_other"]:
            unread += _copy_files(files, choices["out"])
    outcomes = [*unread, *_deliver(tasks, configurations, choices, delivery)]
    delivery.finish()
    if not choices["quiet"]:
        for outcome in outcomes:
            output.findings(outcome.diagnostics, to_stderr=True)
        linking_findings = list(_linking_findings(tasks, outcomes[len(unread) :], configurations))
        output.findings(linking_findings, to_stderr=True)
        if isinstance(delivery, Diffs) and delivery.has_notebooks:
            click.echo(output.NOTEBOOK_DIFFS, err=True)
        click.echo(output.summary(outcomes, delivery.verb, linking_findings), err=True)
    sys.exit(status(outcomes, delivery.is_written))


def _look_at(paths: tuple[str, ...], choices: dict[str, Any]) -> None:
    """Raise UsageError for options that do not go together, and for paths that do not exist."""
    options = [f"--{name}" for name in ("write", "check", "diff", "out") if choices[name]]
    if len(options) > 1 and options != ["--check", "--diff"]:
        raise click.UsageError(f"{options[0]} and {options[1]} cannot be used together")
    if choices["copy_other"] and choices["out"] is None:
        raise click.UsageError("--copy-other needs --out")
    if "-" in paths:
        if len(paths) > 1 or choices["write"] or choices["out"] is not None:
            raise click.UsageError("`-` cannot be combined with other paths, --write or --out")
        return
    if choices["stdin_filename"] is not None:
        raise click.UsageError("--stdin-filename needs `-`")
    for path in paths:
        if not Path(path).exists():
            raise click.UsageError(f"no such file or folder: {path}")


def _wants_workers(paths: tuple[str, ...], choices: dict[str, Any]) -> bool:
    """Return whether several processes will surely translate: many were asked for, for a folder of which
    nothing is in the cache.
    """
    is_many = (choices["jobs"] or 1) > 1 and any(map(os.path.isdir, paths))
    return is_many and (choices["no_cache"] or UnchangedFiles().is_empty())


def _delivery_to_output(choices: dict[str, Any]) -> Delivery | None:
    if choices["diff"]:
        return Diffs()
    return Names() if choices["check"] else None


def _delivery_to_files(files: list[FoundFile], choices: dict[str, Any]) -> Delivery:
    if choices["out"] is None:
        return InPlace() if choices["write"] else Diffs()
    try:
        return Elsewhere(targets(files, choices["out"]), choices["copy_other"])
    except TargetError as error:
        raise click.UsageError(str(error)) from None


def _find_files(
    paths: tuple[str, ...], configurations: Configurations, choices: dict[str, Any]
) -> list[FoundFile]:
    search = search_of(choices, configurations)
    search.every_name = choices["out"] is not None
    search.finds_other_files = choices["copy_other"]
    search.apart_from = choices["out"]
    files = list(search.files(Path(path) for path in paths))
    if not choices["quiet"]:
        output.warn(search.warnings())
    return files


def _tasks(
    files: Sequence[FoundFile], configurations: Configurations, choices: dict[str, Any], delivery: Delivery
) -> tuple[list[Task], list[TaskResult]]:
    """Return a task for each file that can be read, and a finding for each file that cannot."""
    tasks: list[Task] = []
    unread: list[TaskResult] = []
    options_by_settings: dict[int, Options] = {}  # there are few settings, which `configurations` keeps
    for path, root in ((file.path, file.root) for file in files):
        settings = configurations.of(path)
        options = options_by_settings.get(id(settings))
        if options is None:
            options = replace(settings.options(), docs=choices["docs"], numpy_only=not choices["everything"])
            options_by_settings[id(settings)] = options
        try:
            data = path.read_bytes()
        except OSError as error:
            unread.append(TaskResult(path, [problem("NP2TF906", path, error.strerror or str(error))]))
            continue
        tasks.append(Task(path, root, data, options, choices["safe"], delivery.patch))
    return with_shared_names(tasks), unread


def _standard_input(
    configurations: Configurations, choices: dict[str, Any], delivery: Delivery
) -> list[Task]:
    data = sys.stdin.buffer.read()
    path = name_of_standard_input(data, choices["stdin_filename"])
    changes = {"docs": choices["docs"], "numpy_only": not choices["everything"]}
    options = replace(configurations.of(path).options(), **changes)
    task = Task(path, Path(), data, options, choices["safe"], delivery.patch)
    if choices["force_exclude"] and search_of(choices, configurations).excludes(path):
        delivery.take(task, TaskResult(path, []))
        return []
    return with_shared_names([task])


def _copy_files(files: list[FoundFile], out: Path) -> list[TaskResult]:
    """Copy the files that are not Python, and return a finding for each file that cannot be copied."""
    problems: list[TaskResult] = []
    for file in files:
        if not file.is_source:
            try:
                copy(file.path, out / file.path.relative_to(file.root))
            except OSError as error:
                finding = problem("NP2TF906", file.path, error.strerror or str(error))
                problems.append(TaskResult(file.path, [finding]))
    return problems


def _deliver(
    tasks: list[Task], configurations: Configurations, choices: dict[str, Any], delivery: Delivery
) -> list[TaskResult]:
    """Translate the files, and print or write each translation."""
    outcomes: list[TaskResult] = []
    delivered: set[Path] = set()
    cache = UnchangedFiles(not choices["no_cache"])
    with Bar(len(tasks), not choices["quiet"]) as bar:
        for task, result in zip(tasks, convert_files(tasks, choices["jobs"], cache)):
            bar.make_way()
            outcome = deliver(delivery, task, result)
            shared = shared_file(task, result)
            if shared is not None and shared[0].path not in delivered:
                delivered.add(shared[0].path)
                deliver(delivery, *shared)
            settings = configurations.of(task.path)
            findings = [
                finding for finding in outcome.diagnostics if settings.is_selected(finding.code, task.path)
            ]
            outcomes.append(replace(outcome, diagnostics=findings))
            bar.advance()
    return outcomes


def _linking_findings(
    tasks: Sequence[Task], outcomes: Sequence[TaskResult], configurations: Configurations
) -> Iterator[Diagnostic]:
    """Yield the findings that need other files: jitted functions whose calls run on the host because of a
    callee.
    """
    summaries = {outcome.path: outcome.summary for outcome in outcomes}
    functions = (
        function for outcome in summaries.values() if outcome for function in outcome.functions.values()
    )
    if not any(function.is_staged for function in functions):
        return
    from np2tf.translator.batch.one_file import is_module  # loads the translator
    from np2tf.translator.batch.project import Project
    from np2tf.translator.tree.source import Source

    files = [(task.path, task.root) for task in tasks]
    project = Project(files, options_of=lambda path: configurations.of(path).options())
    failures = {outcome.path for outcome in outcomes if outcome.failed}
    for task in tasks:
        if task.path not in failures and is_module(task.path):
            project.add(task.path, summaries[task.path], Source.of(task.data, str(task.path)).original)
    for finding in project.findings():
        if configurations.of(Path(finding.path)).is_selected(finding.code, Path(finding.path)):
            yield finding
