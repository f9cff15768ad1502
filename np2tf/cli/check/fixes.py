"""Mend the findings that have a mechanical remedy: `np2tf check --fix`. Nothing is translated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from np2tf.cli.check.findings import CheckedFile, JudgedFindings
from np2tf.cli.files import replace_file
from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.batch.batch import Patch, change_patch
from np2tf.translator.batch.one_file import mend_bytes
from np2tf.translator.batch.outcome import Outcome, problem


@dataclass
class Fixes:
    """The result of mending the files of a run.

    Attributes:
        mended_findings: the findings that are mended.
        patches: the changes of the files, where patches were asked for.
        problems: findings about files that could not be mended, and stay as they are.
        has_notebooks: whether one of the changed files is a notebook.
    """

    mended_findings: list[Diagnostic] = field(default_factory=list)
    patches: list[bytes] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    has_notebooks: bool = False


def fix_files(
    files: Sequence[CheckedFile], judged_files: Sequence[JudgedFindings], patch: Patch = "none"
) -> Fixes:
    """Mend the visible findings of files that can be mended.

    Args:
        patch: the kind of patch that is made instead of writing the files; "none" writes them.
    """
    fixes = Fixes()
    for file, judged in zip(files, judged_files):
        fixable_findings = [finding for finding in judged.visible_findings if finding.is_fixable]
        if fixable_findings:
            _fix(file, fixable_findings, patch, fixes)
    return fixes


def _fix(file: CheckedFile, findings: Sequence[Diagnostic], patch: Patch, fixes: Fixes) -> None:
    """Mend the findings of one file."""
    try:
        data = file.path.read_bytes()
        outcome = mend_bytes(data, file.path, file.path.parent, _places(file, findings))
        if _is_changed(file, outcome):
            raise OSError(None, "it changed while np2tf was working on it")
        if patch == "none" and not outcome.failed:
            replace_file(file.path, data, outcome.data)
    except OSError as error:
        fixes.problems.append(problem("NP2TF906", file.path, error.strerror or str(error)))
        return
    if outcome.failed:
        fixes.problems += outcome.diagnostics
        return
    fixes.mended_findings += findings
    fixes.patches.append(change_patch(data, outcome, patch))
    fixes.has_notebooks |= file.notebook is not None


def _places(file: CheckedFile, findings: Sequence[Diagnostic]) -> frozenset[tuple[int, int]]:
    """Return the places of findings; of a notebook, in the program that its cells form."""
    if file.notebook is not None:
        findings = [file.notebook.in_program(finding) for finding in findings]
    return frozenset((finding.line, finding.column) for finding in findings)


def _is_changed(file: CheckedFile, outcome: Outcome) -> bool:
    """Return whether a file is no longer as it was when it was checked."""
    before = outcome.notebook.text if outcome.notebook is not None else outcome.before
    return not outcome.failed and before != file.text
