"""One text, which need not be a file: its findings, and the fates of its functions.

The findings are those of `np2tf check FILE`, the fates those of `np2tf report`.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from np2tf.cli.check.edits import lines_of
from np2tf.cli.check.findings import UnusedSuppression
from np2tf.cli.check.run import Run
from np2tf.cli.configuration import Configurations
from np2tf.cli.extras import is_installed
from np2tf.core.diagnostics import Diagnostic
from np2tf.translator.batch.outcome import problem, reason_of
from np2tf.translator.batch.patches import LineMatcher
from np2tf.translator.control.fates import Fate


@dataclass(frozen=True)
class FunctionFate:
    """What becomes of one function.

    Attributes:
        line: the line of its `def`, or of the first decorator; of the module's loops, the first loop's line.
        fate: one of the fates of `np2tf.translator.control.fates`, or of `np2tf.cli.report.verdicts`.
        words: the fate and its reason.
    """

    name: str
    line: int
    fate: str
    words: str


@dataclass(frozen=True)
class Examination:
    """What is found in a text.

    Attributes:
        is_readable: whether the text is Python; half a statement is not.
        would_change: whether a translation changes the text.
    """

    path: Path
    text: str
    is_readable: bool = True
    would_change: bool = False
    findings: tuple[Diagnostic, ...] = ()
    fates: tuple[FunctionFate, ...] = ()
    unused_suppressions: tuple[UnusedSuppression, ...] = field(default=(), repr=False)

    def moved_to(self, text: str) -> Examination:
        """Return what is still true of a text that has been edited since: the findings and the fates in the
        lines that are the same, at their new places.
        """
        blocks = LineMatcher(lines_of(self.text), lines_of(text)).get_matching_blocks()
        moved = {old + k + 1: new + k + 1 for old, new, size in blocks for k in range(size)}
        findings = [
            replace(finding, line=moved[finding.line], end=_moved_end(finding, moved))
            for finding in self.findings
            if finding.line in moved
        ]
        fates = [replace(fate, line=moved[fate.line]) for fate in self.fates if fate.line in moved]
        return Examination(self.path, text, False, False, tuple(findings), tuple(fates))

    def beside(self, last_readable: Examination) -> Examination:
        """Return what is shown of a text that is not Python: why it is not, and what is still true of the
        last text that was.
        """
        moved = last_readable.moved_to(self.text)
        return replace(self, findings=(*self.findings, *moved.findings), fates=moved.fates)


def examine(path: Path, text: str, configurations: Configurations) -> Examination:
    """Return what is found in a text that stands, or will stand, in the file at `path`.

    A failure of np2tf itself is a finding.

    Raises:
        ConfigurationError: the configuration of the file cannot be used.
    """
    settings = configurations.of(path)
    try:
        run = Run.of(
            [(path, path.parent)],
            [],
            lambda code, path: configurations.of(path).is_selected(code, path),
            lambda path: configurations.of(path).options(),
            with_fates=True,
            contents={path: data_of(text)},
        )
        (file,), (judged,) = run.files, run.judged_files
        fates: Sequence[FunctionFate] = ()
        if not file.is_failed and settings.target == "np2tf":
            fates = _judged(path, file.text, [fate for _, fate in run.project.fates()])
    except Exception as error:  # an editor goes on; the error is reported as a fault of np2tf
        return Examination(path, text, False, findings=(problem("NP2TF905", path, reason_of(error)),))
    return Examination(
        path,
        text,
        not file.is_failed,
        file.would_change,
        tuple(judged.visible_findings),
        tuple(fates),
        tuple(judged.unused_suppressions),
    )


def data_of(text: str) -> bytes:
    """Return a text as the bytes of a file, in the encoding that it declares."""
    return text.encode(encoding_of(text), "surrogatepass")


def encoding_of(text: str) -> str:
    """Return the encoding that a text declares; UTF-8 if it declares none that can hold it."""
    data = text.encode("utf-8", "surrogatepass")
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text.encode(encoding)
    except (SyntaxError, UnicodeError):
        return "utf-8"
    return "utf-8" if encoding == "utf-8-sig" else encoding  # the text has the mark itself


def _judged(path: Path, text: str, fates: list[Fate]) -> list[FunctionFate]:
    """Return the fates as the run time would have it; without NumPy, as the translator has it."""
    if not is_installed("numpy"):
        return [FunctionFate(fate.name, fate.line, fate.fate, _in_words(fate)) for fate in fates]
    from np2tf.cli.report.verdicts import told, verdicts

    judged = verdicts({path: (text, fates)})[path]
    return [FunctionFate(fate.name, fate.line, fate.fate, told(fate)) for fate in judged]


def _in_words(fate: Fate) -> str:
    return f"{fate.fate}: {fate.reason}" if fate.reason else fate.fate


def _moved_end(finding: Diagnostic, moved: Mapping[int, int]) -> tuple[int, int] | None:
    """Return where a finding ends in an edited text; None, the end of its line, if that line has changed."""
    if finding.end is None or finding.end[0] not in moved:
        return None
    line, column = finding.end
    return moved[line], column
