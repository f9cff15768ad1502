"""The findings of all files of a run, and the suppressions that hide them or hide nothing."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from np2tf.core.diagnostics import Diagnostic, codes
from np2tf.core.suppressions import MalformedComment, Suppression, Suppressions
from np2tf.translator.batch.project import Project
from np2tf.translator.documents import SUFFIXES as PAGES
from np2tf.translator.notebooks import SUFFIX, Notebook
from np2tf.translator.sources.candidates import is_translated
from np2tf.translator.tree.source import SourceError

# -- findings ------------------------------------------------------------------------------------------------
# The findings of all files of a run, including the findings that comments hide.

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
        folders: the folders that the command line names: the files in them are whole.
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


# -- ignores -------------------------------------------------------------------------------------------------
# Apply suppressions: which findings they hide, and which suppressions hide nothing.

UNUSED_COMMENT, UNKNOWN_CODE, MALFORMED_COMMENT = "NP2TF911", "NP2TF912", "NP2TF913"
#: Codes of findings about suppressions themselves: only a comment that names the code hides such a finding.
ABOUT_SUPPRESSIONS = frozenset({UNUSED_COMMENT, UNKNOWN_CODE, MALFORMED_COMMENT})

IsSelected = Callable[[str], bool]


@dataclass(frozen=True)
class UnusedSuppression:
    """The part of a comment that hides nothing.

    Attributes:
        codes: the codes in it that hide nothing; empty if the whole comment does, or if codes are repeated.
        twice: the codes that are named more than once.
    """

    comment: Suppression
    codes: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()


@dataclass
class JudgedFindings:
    """The findings of one file that are shown, and the unused parts of its suppressions."""

    visible_findings: list[Diagnostic] = field(default_factory=list)
    unused_suppressions: list[UnusedSuppression] = field(default_factory=list)


def judge(file: CheckedFile, is_selected: IsSelected) -> JudgedFindings:
    """Hide the findings that are suppressed or not selected, and find the suppressions that hide nothing."""
    suppressions = Suppressions.of(file.text) if not (file.is_failed or file.is_page) else Suppressions()
    uses: set[tuple[Suppression, str]] = set()
    result = JudgedFindings()
    for finding in file.findings:
        by = (
            suppressions.suppression_of_finding(finding.code, finding.line)
            if finding.severity != "error"
            else None
        )
        if by is not None:
            uses.add((by, finding.code))
        elif is_selected(finding.code):
            result.visible_findings.append(finding)
    judgement = _Judgement(file, suppressions, uses, is_selected)
    for finding in judgement.comment_findings():
        if is_selected(finding.code) and not judgement.is_hidden(finding):
            result.visible_findings.append(finding)
    suppression_codes = {code for code in ABOUT_SUPPRESSIONS if is_selected(UNUSED_COMMENT)}
    for suppression in (
        *judgement.unused_suppressions(frozenset(codes()) - ABOUT_SUPPRESSIONS),
        *judgement.unused_suppressions(suppression_codes),
    ):
        finding = judgement.diagnostic(suppression)
        if is_selected(UNUSED_COMMENT) and not judgement.is_hidden(finding):
            result.visible_findings.append(finding)
            result.unused_suppressions.append(suppression)
    result.visible_findings.sort(key=order)
    return result


@dataclass
class _Judgement:
    file: CheckedFile
    suppressions: Suppressions
    used_suppressions: set[tuple[Suppression, str]]
    is_selected: IsSelected

    def is_hidden(self, finding: Diagnostic) -> bool:
        """Return whether a comment names the code of a finding about comments, and note that the comment is
        used.
        """
        by = self.suppressions.suppression_of_suppression(finding.code, finding.line)
        if by is not None:
            self.used_suppressions.add((by, finding.code))
        return by is not None

    def comment_findings(self) -> Iterator[Diagnostic]:
        """Yield findings about malformed comments, and about codes that do not exist."""
        for malformed_comment in self.suppressions.malformed_comments:
            words = {"comment": malformed_comment.text, "reason": malformed_comment.reason}
            yield self._make_diagnostic(MALFORMED_COMMENT, malformed_comment, **words)
        for comment in self.suppressions.comments:
            for code in dict.fromkeys(comment.codes):
                if code not in codes():
                    yield self._make_diagnostic(UNKNOWN_CODE, comment, name=f"`{code}`{_suggestion(code)}")

    def unused_suppressions(self, among: frozenset[str] | set[str]) -> list[UnusedSuppression]:
        """Return the comments that hide nothing, and the codes of `among` in comments that hide nothing.

        A code that the run did not look for is never called unused.
        """
        if self.file.is_translated:
            return []
        suppressions = []
        for comment in self.suppressions.comments:
            if not comment.codes:
                is_used = any(by == comment for by, _ in self.used_suppressions)
                if not is_used and among - ABOUT_SUPPRESSIONS and self._looked_for_all():
                    suppressions.append(UnusedSuppression(comment))
                continue
            once = [code for code in dict.fromkeys(comment.codes) if code in among]
            idle = tuple(code for code in once if self._is_idle(comment, code))
            twice = tuple(code for code in once if code not in idle and comment.codes.count(code) > 1)
            if idle or twice:
                suppressions.append(UnusedSuppression(comment, idle, twice))
        return suppressions

    def _is_idle(self, comment: Suppression, code: str) -> bool:
        looked_for = self.is_selected(code) and (self.file.is_whole or code not in BY_OTHER_FILES)
        return looked_for and (comment, code) not in self.used_suppressions

    def _looked_for_all(self) -> bool:
        return self.file.is_whole and all(map(self.is_selected, codes()))

    def diagnostic(self, suppression: UnusedSuppression) -> Diagnostic:
        """Return the finding that reports an unused suppression."""
        code_list = ", ".join(
            [
                *(f"`{code}`" for code in suppression.codes),
                *(f"`{code}`, again," for code in suppression.twice),
            ]
        )
        scope = "file-ignore" if suppression.comment.is_file else "ignore"
        comment = f"{code_list} in `# np2tf: {scope}[…]`" if code_list else f"`# np2tf: {scope}`"
        return self._make_diagnostic(UNUSED_COMMENT, suppression.comment, comment=comment)

    def _make_diagnostic(self, code: str, place: Suppression | MalformedComment, **words: str) -> Diagnostic:
        end = (place.line, place.end + 1)
        return Diagnostic(code, str(self.file.path), place.line, place.start + 1, tuple(words.items()), end)


def _suggestion(word: str) -> str:
    """Return `; did you mean NP2TF401?` for what may be a misspelled code; an empty text if that is not
    clear.
    """
    digits = re.sub(r"(?i)^\s*(np2tf|np2f|nptf|np|n)?[-_ ]?", "", word)
    candidate = f"NP2TF{digits}"
    if digits and any(code.startswith(candidate) for code in codes()):
        return f"; did you mean {candidate}?"
    return ""
