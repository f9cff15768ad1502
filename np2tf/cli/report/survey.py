"""The files of a repository, the cells of its notebooks, and their translation."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from np2tf.cli.check.findings import order
from np2tf.cli.report.verdicts import LOOPS, verdicts
from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.batch.outcome import Outcome
from np2tf.translator.batch.project import Project
from np2tf.translator.control.fates import CALLED, PLAIN, STAGED, Fate
from np2tf.translator.notebooks import SUFFIX, Notebook
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.source import SourceError

# -- cells ---------------------------------------------------------------------------------------------------
# The code cells of a notebook as one text, which a report shows in the place of a source.


def text_of_cells(data: str, path: str) -> tuple[str, Mapping[int, int]]:
    """Return the cells of a notebook below headings, and the line of each heading by the cell's number.

    Args:
        data: the text of the file; what is no notebook has no cells.
    """
    try:
        cells = Notebook.of(data.encode("utf-8"), path).cells
    except SourceError:
        return "", {}
    lines: list[str] = []
    headings = {}
    for cell in cells:
        headings[cell.number] = len(lines) + 1
        lines += [f"# cell {cell.number}", *cell.text.rstrip("\n").split("\n"), ""]
    return "\n".join(lines), headings


# -- survey --------------------------------------------------------------------------------------------------
# The files of a repository, and their translation.

#: The package of files that lie in no folder of the repository.
TOP = "(top)"


@dataclass
class FileSurvey:
    """One file.

    Attributes:
        name: the path that is shown: relative to the repository, with slashes.
        before, after: its text and its translation; of a notebook, the text of its cells.
        findings: the findings, in the order of the text.
        fates: the fates of its functions that have loops or compute with arrays.
        names: the number of uses of each NumPy name.
        headings: of a notebook, the line of `before` above each cell, by the number of the cell.
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
    headings: Mapping[int, int] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """The folder that contains the file."""
        return self.name.rpartition("/")[0] or TOP

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return len(self.before.splitlines())

    def line_of(self, found: Diagnostic | Fate) -> int:
        """Return the line of `before` to which a finding or the fate of a function belongs."""
        return found.line + (self.headings.get(found.cell, 0) if found.cell is not None else 0)

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
        is_selected: whether findings of a code are shown in a file.
        advance: a function that is called after each file.
    """
    project = Project(files, True, options_of)
    surveys: dict[Path, FileSurvey] = {}
    for outcome in project.outcomes(jobs):
        name = display_path(outcome.path, folder)
        texts, headings = _texts_of(outcome)
        file_survey = FileSurvey(
            name, *texts, outcome.changed, outcome.failed, outcome.crashed, list(outcome.diagnostics)
        )
        file_survey.names = project.names[outcome.path]
        file_survey.headings = headings
        surveys[outcome.path] = file_survey
        advance()
    for diagnostic in project.findings():
        surveys[Path(diagnostic.path)].findings.append(diagnostic)
    for path, fate in project.fates():
        surveys[path].fates.append(replace(fate, reason=_with_short_places(fate.reason, folder)))
    sources = {path: file for path, file in surveys.items() if not file.failed and not file.headings}
    judged = verdicts({path: (file.before, file.fates) for path, file in sources.items()})
    for path, fates in judged.items():
        surveys[path].fates = fates
    for path, file in surveys.items():
        selection = sorted(
            (finding for finding in file.findings if is_selected(finding.code, path)), key=order
        )
        file.findings = [
            replace(
                finding, args=tuple((name, _with_short_places(text, folder)) for name, text in finding.args)
            )
            for finding in selection
        ]
    return Survey(list(surveys.values()))


def _texts_of(outcome: Outcome) -> tuple[tuple[str, str], Mapping[int, int]]:
    """Return a file's text and its translation, and the headings of a notebook's cells."""
    data = outcome.data.decode("utf-8", "replace")
    texts = (data, data) if outcome.failed else (outcome.before, outcome.after)
    if outcome.path.suffix != SUFFIX:
        return texts, {}
    (before, headings), (after, _) = (text_of_cells(text, str(outcome.path)) for text in texts)
    return (before, after), headings


def _with_short_places(message: str, folder: Path) -> str:
    """Return a message with the places of callees, "(path:line)", relative to the reported folder."""
    for prefix in {str(folder), str(folder.resolve())} - {"."}:
        message = message.replace(f"({prefix}{os.sep}", "(")
    return message


def display_path(path: Path, folder: Path) -> str:
    """Return a path as reports show it: relative to the reported folder, with slashes."""
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def count_staged(fates: Sequence[Fate]) -> int:
    """Return how many functions are compiled: by themselves, inside a compiled caller, or by their loops."""
    return sum(fate.fate in (STAGED, CALLED, LOOPS) for fate in fates)


def percent(part: float, whole: float) -> str:
    """Return a share in percent as text; a dash if the whole is zero."""
    return f"{100 * part / whole:.0f} %" if whole else "–"


def top_level_names(files: Sequence[Path]) -> Iterator[str]:
    """Yield the import names of the packages and modules that the files belong to."""
    names: set[str] = set()
    for file in files:
        if file.suffix == SUFFIX:  # a notebook is no module
            continue
        top = file
        while (top.parent / "__init__.py").is_file():
            top = top.parent
        name = top.stem if top == file else top.name
        if name not in names and name.isidentifier():
            names.add(name)
            yield name
