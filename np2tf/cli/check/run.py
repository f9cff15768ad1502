"""One run of `np2tf check`: read the files, judge the findings, edit the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from np2tf.cli.check.baseline import IsSelectedIn
from np2tf.cli.check.edits import rewrite, with_suppressions, without
from np2tf.cli.check.findings import CheckedFile, JudgedFindings, check_files, judge
from np2tf.cli.check.fixes import Fixes, fix_files
from np2tf.core.diagnostics import CLEAN, FINDINGS, INTERNAL, Diagnostic
from np2tf.translator.batch.batch import Patch
from np2tf.translator.batch.outcome import is_own_fault
from np2tf.translator.batch.project import Project
from np2tf.translator.sources.options import Options


@dataclass
class Run:
    """The files of one run, and their findings."""

    project: Project
    files: list[CheckedFile]
    judged_files: list[JudgedFindings]
    further: list[Diagnostic] = field(default_factory=list)
    """Findings about the run: files that could not be written, entries of a baseline."""
    baseline_count: int = 0
    """The number of findings that a baseline hides."""

    @classmethod
    def of(
        cls,
        files: Sequence[tuple[Path, Path]],
        folders: Sequence[Path],
        is_selected: IsSelectedIn,
        options_of: Callable[[Path], Options],
        jobs: int = 1,
        with_fates: bool = False,
        contents: Mapping[Path, bytes] | None = None,
        advance: Callable[[], None] = lambda: None,
    ) -> Run:
        """Read the files, and judge their findings.

        Args:
            files: each file with the folder under which it was found.
            folders: the folders that the command line names.
            is_selected: says whether findings of a code are shown in a file.
            contents: the bytes of files that come from standard input.
            advance: called for each file that has been read.
        """
        project = Project(files, with_fates, options_of, contents)
        checked_files = check_files(project, folders, jobs, advance)
        verdicts = [judge(file, partial(_selected_in, is_selected, file.path)) for file in checked_files]
        for file, verdict in zip(checked_files, verdicts):
            if file.notebook is not None:
                verdict.visible_findings = file.notebook.in_cells(verdict.visible_findings)
        return cls(project, checked_files, verdicts)

    @property
    def texts(self) -> dict[str, str]:
        """Return the text of every file by its path, and of every cell by its `Diagnostic.source`."""
        texts = {str(file.path): file.text for file in self.files}
        for file in self.files:
            for cell in file.notebook.cells if file.notebook is not None else ():
                texts[f"{file.path}:cell {cell.number}"] = cell.text
        return texts

    @property
    def findings(self) -> list[Diagnostic]:
        """Return the findings that are shown, file by file."""
        return [
            *(finding for verdict in self.judged_files for finding in verdict.visible_findings),
            *self.further,
        ]

    @property
    def status(self) -> int:
        """Return the exit status that the findings call for. Notes do not change the exit status."""
        if any(file.is_crashed for file in self.files) or is_own_fault(self.further):
            return INTERNAL
        return FINDINGS if any(finding.severity != "note" for finding in self.findings) else CLEAN

    def fix(self, patch: Patch = "none") -> Fixes:
        """Mend the findings that are shown and have a mechanical remedy; for a patch, write nothing."""
        fixes = fix_files(self.files, self.judged_files, patch)
        self.further += fixes.problems
        return fixes

    def add_suppressions(self) -> tuple[int, int]:
        """Suppress the findings that are shown; return how many that hides, and in how many files."""
        findings = files = 0
        for file, verdict in zip(self.files, self.judged_files):
            if file.is_failed or file.is_page:
                continue
            visible_findings = verdict.visible_findings
            if file.notebook is not None:
                visible_findings = [file.notebook.in_program(finding) for finding in visible_findings]
            text, count = with_suppressions(file.text, visible_findings)
            if text != file.text and self._rewrite(file, text):
                findings, files = findings + count, files + 1
        return findings, files

    def remove_unused(self) -> tuple[int, int]:
        """Remove suppressions that hide nothing. Return how many comments change, and in how many files."""
        comments = files = 0
        for file, verdict in zip(self.files, self.judged_files):
            if verdict.unused_suppressions and self._rewrite(
                file, without(file.text, verdict.unused_suppressions)
            ):
                comments += len({suppression.comment for suppression in verdict.unused_suppressions})
                files += 1
        return comments, files

    def _rewrite(self, file: CheckedFile, text: str) -> bool:
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
