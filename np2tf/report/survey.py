"""The files of a repository, and their translation."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from np2tf.checking.findings import order
from np2tf.diagnostics import Diagnostic
from np2tf.notebooks.notebook import SUFFIX
from np2tf.options import Options
from np2tf.project import Project
from np2tf.rewrites.control.fates import CALLED, PLAIN, STAGED, Fate

#: The package of files that lie in no folder of the repository.
TOP = "(top)"


@dataclass
class FileSurvey:
    """One file.

    Attributes:
        name: the path that is shown: relative to the repository, with slashes.
        before, after: its text and its translation; empty for a notebook, whose findings name their cells.
        findings: the findings, in the order of the text.
        fates: the fates of its functions that have loops or compute with arrays.
        names: the number of uses of each NumPy name.
    """

    name: str
    before: str
    after: str
    changes: bool = False
    failed: bool = False
    crashed: bool = False
    findings: list[Diagnostic] = field(default_factory=list)
    fates: list[Fate] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)

    @property
    def package(self) -> str:
        """The folder that contains the file."""
        return self.name.rpartition("/")[0] or TOP

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return len(self.before.splitlines())

    @property
    def about_arrays(self) -> list[Fate]:
        """The functions of the file that compute with arrays."""
        return [fate for fate in self.fates if fate.fate != PLAIN]


@dataclass
class Survey:
    """The files of a repository."""

    files: list[FileSurvey]

    @property
    def fates(self) -> list[Fate]:
        """Return the fates of the functions of all files that compute with arrays."""
        return [fate for file in self.files for fate in file.about_arrays]

    @property
    def findings(self) -> list[Diagnostic]:
        """Return all findings."""
        return [finding for file in self.files for finding in file.findings]

    @property
    def names(self) -> Counter[str]:
        """Return how often the files use each NumPy name."""
        return sum((file.names for file in self.files), Counter())

    @property
    def packages(self) -> dict[str, list[FileSurvey]]:
        """Return the files by folder, in the order of the names."""
        files_by_package: dict[str, list[FileSurvey]] = {}
        for file in sorted(self.files, key=lambda file: (file.package != TOP, file.package)):
            files_by_package.setdefault(file.package, []).append(file)
        return files_by_package


def survey(
    files: Sequence[tuple[Path, Path]],
    folder: Path,
    options_of: Callable[[Path], Options],
    is_selected: Callable[[str, Path], bool],
    jobs: int = 1,
    advance: Callable[[], None] = lambda: None,
) -> Survey:
    """Translate the files in memory, and keep the facts that reports show.

    Args:
        files: the files, each with the folder that it was found under.
        folder: the folder to which paths are relative.
        options_of: gives the translator's options for a file.
        is_selected: whether findings of a code are shown in a file.
        jobs: the number of processes that read the files.
        advance: a function that is called after each file.
    """
    project = Project(files, True, options_of)
    surveys: dict[Path, FileSurvey] = {}
    for outcome in project.outcomes(jobs):
        name = display_path(outcome.path, folder)
        texts = ("", "") if outcome.path.suffix == SUFFIX else (outcome.before, outcome.after)
        if outcome.failed and outcome.path.suffix != SUFFIX:
            texts = (outcome.data.decode("utf-8", "replace"),) * 2
        file_survey = FileSurvey(
            name, *texts, outcome.changed, outcome.failed, outcome.crashed, list(outcome.diagnostics)
        )
        file_survey.names = project.names[outcome.path]
        surveys[outcome.path] = file_survey
        advance()
    for diagnostic in project.findings():
        surveys[Path(diagnostic.path)].findings.append(diagnostic)
    for path, fate in project.fates():
        surveys[path].fates.append(fate)
    for path, file in surveys.items():
        file.findings = sorted(
            (finding for finding in file.findings if is_selected(finding.code, path)), key=order
        )
    return Survey(list(surveys.values()))


def display_path(path: Path, folder: Path) -> str:
    """Return a path as reports show it: relative to the reported folder, with slashes."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def count_staged(fates: Sequence[Fate]) -> int:
    """Return how many functions are compiled: by themselves, or where something compiled calls them."""
    return sum(fate.fate in (STAGED, CALLED) for fate in fates)


def percent(part: int, whole: int) -> str:
    """Return a share in percent as text; a dash if the whole is zero."""
    return f"{100 * part / whole:.0f} %" if whole else "–"


def top_level_names(files: Sequence[Path]) -> Iterator[str]:
    """Yield the import names of the packages and modules that the files belong to."""
    names: set[str] = set()
    for file in files:
        top = file
        while (top.parent / "__init__.py").is_file():
            top = top.parent
        name = top.stem if top == file else top.name
        if name not in names and name.isidentifier():
            names.add(name)
            yield name
