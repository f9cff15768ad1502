"""One run of `np2tf check`: files read, findings judged, files edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from np2tf.checking.baseline import IsSelectedIn
from np2tf.checking.edits import rewrite, with_suppressions, without
from np2tf.checking.findings import CheckedFile, check_files
from np2tf.checking.ignores import JudgedFindings, judge
from np2tf.diagnostics import CLEAN, FINDINGS, INTERNAL, Diagnostic
from np2tf.options import Options
from np2tf.project import Project


@dataclass
class Run:
    """The files of one run, and what is shown of their findings."""

    project: Project
    files: list[CheckedFile]
    judged: list[JudgedFindings]
    further: list[Diagnostic] = field(default_factory=list)
    """What was found besides: files that could not be written, entries of a baseline."""
    known: int = 0
    """How many findings a baseline hides."""

    @classmethod
    def of(
        cls,
        files: Sequence[tuple[Path, Path]],
        folders: Sequence[Path],
        is_selected: IsSelectedIn,
        options_of: Callable[[Path], Options],
        jobs: int = 1,
        with_fates: bool = False,
    ) -> Run:
        """Read the files, each given with the folder that it was found under."""
        project = Project(files, with_fates, options_of)
        read = check_files(project, folders, jobs)
        judged = [judge(file, partial(_selected_in, is_selected, file.path)) for file in read]
        for file, one in zip(read, judged):
            if file.notebook is not None:
                one.shown = file.notebook.in_cells(one.shown)
        return cls(project, read, judged)

    @property
    def texts(self) -> dict[str, str]:
        """The text of every file by its path, and of every cell of notebooks (`Diagnostic.source`)."""
        found = {str(file.path): file.text for file in self.files}
        for file in self.files:
            for cell in file.notebook.cells if file.notebook is not None else ():
                found[f"{file.path}:cell {cell.number}"] = cell.text
        return found

    @property
    def findings(self) -> list[Diagnostic]:
        """What is shown, file by file."""
        return [*(found for judged in self.judged for found in judged.shown), *self.further]

    @property
    def status(self) -> int:
        """The exit status that this calls for; notes call for none."""
        if any(file.is_crashed for file in self.files):
            return INTERNAL
        return FINDINGS if any(found.severity != "note" for found in self.findings) else CLEAN

    def add_suppressions(self) -> tuple[int, int]:
        """Suppress what is shown; how many findings that hides, and in how many files."""
        findings = files = 0
        for file, judged in zip(self.files, self.judged):
            if file.is_failed or file.is_page:
                continue
            shown = judged.shown
            if file.notebook is not None:
                shown = [file.notebook.in_program(found) for found in shown]
            text, count = with_suppressions(file.text, shown)
            if text != file.text and self._rewritten(file, text):
                findings, files = findings + count, files + 1
        return findings, files

    def remove_unused(self) -> tuple[int, int]:
        """Remove suppressions that hide nothing; how many comments, and in how many files."""
        comments = files = 0
        for file, judged in zip(self.files, self.judged):
            if judged.unused and self._rewritten(file, without(file.text, judged.unused)):
                comments += len({one.comment for one in judged.unused})
                files += 1
        return comments, files

    def _rewritten(self, file: CheckedFile, text: str) -> bool:
        try:
            if file.notebook is not None:
                raise ValueError("suppressions in notebooks are written by hand")
            rewrite(file.path, file.text, text)
        except (OSError, ValueError) as error:
            reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
            self.further.append(Diagnostic("NP2TF906", str(file.path), 1, 1, (("reason", reason),)))
            return False
        return True


def _selected_in(is_selected: IsSelectedIn, path: Path, code: str) -> bool:
    return is_selected(code, path)
