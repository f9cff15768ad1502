"""The files of one command: groups, tasks, unchanged files, results in order."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from np2tf.core.cache import Cache, begin_hash, key_from, unchanged_files_cache
from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.batch.outcome import Outcome, has_failed, is_own_fault, problem, reason_of
from np2tf.translator.batch.patches import cells_patch, patch_of, patch_text
from np2tf.translator.linking.summary import ModuleSummary
from np2tf.translator.sources.array_flow import files_with_arrays
from np2tf.translator.sources.names_between_files import passed_on, reexports_of
from np2tf.translator.sources.options import Options
from np2tf.translator.sources.python_trees import python_tree

# -- tasks ---------------------------------------------------------------------------------------------------
# The translation of one file as a task that any process can do.

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
    shared_module: tuple[Path, bytes] | None = field(default=None, repr=False)
    """The path and the bytes of the module that the translations of several files import."""

    @property
    def failed(self) -> bool:
        """Return whether the file could not be translated."""
        return has_failed(self.diagnostics)

    @property
    def crashed(self) -> bool:
        """Return whether np2tf itself failed on the file."""
        return is_own_fault(self.diagnostics)


def outcomes_of(tasks: Sequence[Task]) -> list[Outcome]:
    """Translate files that are translated together. Every failure becomes a diagnostic."""
    if len(tasks) == 1:
        from np2tf.translator.batch.one_file import translate_bytes  # loads the translator

        (task,) = tasks
        return [translate_bytes(task.data, task.path, task.root, task.options, task.is_safe)]
    from np2tf.translator.batch.programs import translate_program  # loads the translator

    files = [(task.data, task.path, task.root) for task in tasks]
    return translate_program(files, [task.options for task in tasks], tasks[0].is_safe)


def run_tasks(tasks: Sequence[Task]) -> list[TaskResult]:
    """Do the tasks of files that are translated together. Every failure becomes a diagnostic."""
    return [_result(task, outcome) for task, outcome in zip(tasks, outcomes_of(tasks))]


def _result(task: Task, outcome: Outcome) -> TaskResult:
    """Return the outcome of a task as plain data."""
    from np2tf.translator.batch.one_file import summary_of

    summary = summary_of(outcome, task.options) if task.options.target == "np2tf" else None
    if not outcome.changed:
        return TaskResult(task.path, outcome.diagnostics, summary=summary)
    patch = change_patch(task.data, outcome, task.patch)
    return TaskResult(
        task.path, outcome.diagnostics, True, outcome.data, patch, summary, outcome.shared_module
    )


def shared_file(task: Task, result: TaskResult) -> tuple[Task, TaskResult] | None:
    """Return the module that the translation of a file shares with others, as a further file; None if it
    shares none.
    """
    if result.shared_module is None:
        return None
    path, data = result.shared_module
    before = path.read_bytes() if path.exists() else b""
    patch = b"" if task.patch == "none" else patch_of(path, before, data)
    further_task = replace(task, path=path, data=before)
    return further_task, TaskResult(path, [], before != data, data, patch)


def change_patch(before: bytes, outcome: Outcome, kind: Patch) -> bytes:
    """Return the change of a file with these bytes as a patch; of a notebook, cell by cell for all kinds."""
    if kind == "none":
        return b""
    if outcome.notebook is not None:
        return cells_patch(outcome.path, before, outcome.data)
    if kind == "bytes":
        return patch_of(outcome.path, before, outcome.data)
    text = patch_text(outcome.path.as_posix(), outcome.before, outcome.after)
    return text.encode("utf-8", "surrogateescape")


# -- unchanged files -----------------------------------------------------------------------------------------
# The files that a translation is known not to change, with their findings.
#
# The cache of translations keeps them in a folder of their own. The key is a hash of the file's content and
# path, of the options and of the translator itself, so that an entry is never out of date.


class UnchangedFiles:
    """Looks up files that a translation does not change, and records them, unless `is_used` is false."""

    def __init__(self, is_used: bool = True) -> None:
        self._cache: Cache | None = unchanged_files_cache() if is_used else None
        self._hashes: dict[Options, blake2b] = {}

    def is_empty(self) -> bool:
        """Return whether nothing is recorded, or the cache is turned off."""
        return self._cache is None or not os.path.isdir(self._cache.folder)

    def find(self, task: Task) -> TaskResult | None:
        """Return the result of a task whose file is known not to change; None if that is not known."""
        if self._cache is None:
            return None
        entries = self._cache.load(self._key(task))
        if not isinstance(entries, list):
            return None
        path = str(task.path)
        diagnostics = [
            Diagnostic(code, path, line, column, args, cell=cell)
            for code, line, column, args, cell in entries
        ]
        return TaskResult(task.path, diagnostics)

    def keep(self, task: Task, result: TaskResult) -> None:
        """Record the result of a task, if its file does not change and has not failed."""
        if self._cache is None or result.changed or result.failed:
            return
        entries = [
            (finding.code, finding.line, finding.column, finding.args, finding.cell)
            for finding in result.diagnostics
        ]
        self._cache.store(self._key(task), entries)

    def _key(self, task: Task) -> str:
        first_digest = self._hashes.get(task.options)
        if first_digest is None:
            first_digest = self._hashes[task.options] = begin_hash(("unchanged", task.options))
        return key_from(first_digest, task.data, os.path.abspath(task.path))


# -- shared names --------------------------------------------------------------------------------------------
# The names of NumPy that the files of one command import from one another.


def with_shared_names(tasks: Sequence[Task], are_bound: bool = True) -> list[Task]:
    """Return the tasks with the names that files import from others and, if `are_bound`, bind for others.

    Nothing is compiled in files that no array comes into, if the options say so.
    """
    contents = [(task.path, task.data) for task in tasks]
    names, reexports = passed_on(contents) if are_bound else {}, reexports_of(contents)
    is_asked = any(task.options.as_source and task.options.numpy_only for task in tasks)
    with_arrays = files_with_arrays(contents) if is_asked else set()

    def options_of(task: Task) -> Options:
        options = task.options
        if options.as_source and options.numpy_only and task.path not in with_arrays:
            options = replace(options, jit=False)
        if task.path not in names and task.path not in reexports:
            return options
        return replace(options, passed_on=names.get(task.path, ()), reexports=reexports.get(task.path, ()))

    return [replace(task, options=options_of(task)) for task in tasks]


# -- import groups -------------------------------------------------------------------------------------------
# The files of a project that import one another: `--target tf` translates them together.
#
# Imports are found by names alone, so a module of the same name in another folder counts, too.

_IMPORT = re.compile(rb"(?:from|import)\s+([\w.]+)")


def grouped(tasks: Sequence[Task]) -> list[list[Task]]:
    """Return the groups of files that are translated together, in the order of their first files.

    These are files that imports connect. Only `--target tf` translates several files together.
    """
    modules = [
        position
        for position, task in enumerate(tasks)
        if task.options.target == "tf" and task.path.suffix == ".py"
    ]
    named_files: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for position in modules:
        parts = _parts(tasks[position].path)
        named_files.setdefault(parts[-1], []).append((position, parts))
    leaders = list(range(len(tasks)))
    for position in modules:
        for imported_parts in _imports(tasks[position].path, tasks[position].data):
            for other_position, parts in named_files.get(imported_parts[-1], ()):
                if parts[-len(imported_parts) :] == imported_parts:
                    first, second = sorted((_leader(leaders, position), _leader(leaders, other_position)))
                    leaders[second] = first
    groups: dict[int, list[Task]] = {}
    for position, task in enumerate(tasks):
        groups.setdefault(_leader(leaders, position), []).append(task)
    return list(groups.values())


def _leader(leaders: list[int], position: int) -> int:
    """Return the position that stands for the group of a file."""
    while leaders[position] != position:
        position = leaders[position]
    return position


def _parts(path: Path) -> tuple[str, ...]:
    parts = path.resolve().with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _imports(path: Path, data: bytes) -> Iterator[tuple[str, ...]]:
    """Return the last parts of the names of the modules that a file may import."""
    tree = python_tree(data)
    if tree is None:
        for name in _IMPORT.findall(data):
            yield tuple(name.decode().strip(".").split("."))
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = tuple(alias.name.split("."))
                yield from (parts[: k + 1] for k in range(len(parts)))
        elif isinstance(node, ast.ImportFrom):
            inside = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                folders = path.resolve().parts[:-1]
                inside = folders[: len(folders) - node.level + 1] + inside
            if inside:
                yield inside
            yield from ((*inside, alias.name) for alias in node.names if alias.name != "*")


# -- file batch ----------------------------------------------------------------------------------------------
# Translate the files of one command: the cache has known results, workers translate other files.

#: The number of bytes that one process translates in 0.2 s, the time that workers take to start.
_WORTH_WORKERS = 48 * 1024


def convert_files(
    tasks: Sequence[Task], jobs: int | None, unchanged_files: UnchangedFiles
) -> Iterator[TaskResult]:
    """Yield the results in the files' order; `jobs=None` is one process per processor, for large files."""
    known_results: dict[Path, TaskResult] = {}
    new_groups: list[list[Task]] = []
    for group in grouped(tasks):
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


def _worked_on(groups: Sequence[list[Task]], jobs: int | None) -> Generator[list[TaskResult], None, None]:
    """Yield the results of the files that the cache does not know."""
    from np2tf.translator.batch.workers import cores, in_order  # not loaded where all is known

    if jobs is None:
        size = sum(len(task.data) for group in groups for task in group)
        jobs = cores() if size > _WORTH_WORKERS else 1
    yield from in_order(run_tasks, _crash_results, groups, max(1, min(jobs, len(groups))))


def _crash_results(tasks: Sequence[Task], error: BaseException) -> list[TaskResult]:
    return [TaskResult(task.path, [problem("NP2TF905", task.path, reason_of(error))]) for task in tasks]
