"""The findings of all files of a run, including the findings that comments hide."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from np2tf.candidates import is_translated
from np2tf.diagnostics import Diagnostic
from np2tf.documents.page import SUFFIXES as PAGES
from np2tf.notebooks.notebook import SUFFIX, Notebook
from np2tf.project import Project
from np2tf.tree.source import SourceError

#: Codes of findings that other files cause: they cannot be found if the other files are not read.
BY_OTHER_FILES = frozenset({"NP2TF402"})


@dataclass
class CheckedFile:
    """One file, and its findings.

    Attributes:
        text: the file's text. If the file cannot be read as Python, as much of it as can be shown; for a
            notebook, its program.
        would_change: whether a translation changes the file.
        is_whole: whether the files around it have been read too.
        is_page: whether the file is a text page with Python in it, whose comments are not looked for.
        findings: the findings, none of them hidden yet; for a notebook, the findings in its program.
    """

    path: Path
    text: str
    would_change: bool = False
    is_whole: bool = True
    is_failed: bool = False
    is_crashed: bool = False
    notebook: Notebook | None = None
    is_page: bool = False
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def is_translated(self) -> bool:
        """Return whether the file is np2tf's output, in which most codes are no longer looked for."""
        return is_translated(self.text)


def check_files(
    project: Project, folders: Iterable[Path], jobs: int = 1, advance: Callable[[], None] = lambda: None
) -> list[CheckedFile]:
    """Return the files of a project with their findings.

    Args:
        project: the files.
        folders: the folders that the command line names: the files in them are whole.
        jobs: how many processes read the files.
        advance: called for each file that has been read.
    """
    whole = [os.path.join(os.path.abspath(folder), "") for folder in folders]
    files: dict[str, CheckedFile] = {}
    for outcome in project.outcomes(jobs):
        advance()
        data = outcome.before.encode("utf-8") or outcome.data
        notebook = _notebook(outcome.path, data)
        findings = [*outcome.diagnostics, *outcome.suppressed_findings]
        files[str(outcome.path)] = CheckedFile(
            outcome.path,
            notebook.text if notebook is not None else outcome.before or _relative_path(outcome.data),
            outcome.changed,
            os.path.abspath(outcome.path).startswith(tuple(whole)),
            outcome.failed,
            outcome.crashed,
            notebook,
            outcome.path.suffix in PAGES,
            findings if notebook is None else [notebook.in_program(finding) for finding in findings],
        )
    for report in project.reports():
        files[report.path].findings += [*report.findings, *report.suppressed_findings]
    for file in files.values():
        file.findings.sort(key=order)
    return list(files.values())


def _notebook(path: Path, data: bytes) -> Notebook | None:
    """Return a file as a notebook; None if it cannot be read as a notebook."""
    if path.suffix != SUFFIX:
        return None
    try:
        return Notebook.of(data, str(path))
    except SourceError:
        return None


def order(finding: Diagnostic) -> tuple[int, int, str]:
    """Return the sort key of a finding: the findings of a file come in the order of its text."""
    return finding.line, finding.column, finding.code


def _relative_path(data: bytes) -> str:
    return data.decode("utf-8", "replace")
