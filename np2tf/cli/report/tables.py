"""A survey as rows of tables: packages, reasons, codes, NumPy's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from np2tf.cli.report.survey import FileSurvey, Survey, count_staged
from np2tf.cli.report.verdicts import LOOPS
from np2tf.core import rules
from np2tf.core.diagnostics import codes
from np2tf.translator.control.fates import CALLED, HOST, PLAIN, STAGED, Fate, reasons

#: The fate of a function -> the class of its colour.
FATES = {STAGED: "staged", CALLED: "called", LOOPS: "looped", HOST: "host", PLAIN: "plain"}
#: How np2tf provides a name -> the words of a report for it.
SUPPORT = {
    "native": "TensorFlow",
    "drawn": "drawn in compiled code",
    "host": "NumPy",
    "kept": "left on NumPy",
    "no": "refused",
    "unknown": "not known",
}
#: The maximal number of reasons that are shown.
REASONS = 20


@dataclass(frozen=True)
class PackageRow:
    """One folder: its files, and the number of its functions with each fate."""

    name: str
    files: int
    changed_files: int
    findings: int
    fates: dict[str, int]

    @property
    def functions(self) -> int:
        """Return how many functions compute with arrays."""
        return sum(self.fates.values())

    @property
    def staged_functions(self) -> int:
        """Return how many of them are compiled."""
        return self.fates["staged"] + self.fates["called"] + self.fates["looped"]


@dataclass(frozen=True)
class CodeRow:
    """One code, the number of its findings, and the message of one of them."""

    code: str
    severity: str
    count: int
    title: str
    example: str
    why: str
    remedy: str


@dataclass(frozen=True)
class NameRow:
    """One NumPy name: its number of uses, the number of files with it, and how np2tf provides it."""

    name: str
    uses: int
    files: int
    kind: str
    support: str


def count_fates(fates: Sequence[Fate]) -> dict[str, int]:
    """Return the number of functions with each fate, by the class of its colour, in the order of a table."""
    counts = Counter(fate.fate for fate in fates)
    return {short: counts[fate] for fate, short in FATES.items() if fate != PLAIN}


def packages(survey: Survey) -> list[PackageRow]:
    """Return the rows of the folders."""
    return [_package(name, files) for name, files in survey.packages.items()]


def _package(name: str, files: list[FileSurvey]) -> PackageRow:
    fates = [fate for file in files for fate in file.about_arrays]
    changes = sum(file.changes for file in files)
    return PackageRow(
        name, len(files), changes, sum(len(file.findings) for file in files), count_fates(fates)
    )


def why_on_host(survey: Survey) -> list[tuple[str, int]]:
    """Return the most frequent reasons why functions stay on the host."""
    return reasons(survey.fates, REASONS)


def code_rows(survey: Survey) -> list[CodeRow]:
    """Return the rows of the codes, the most frequent code first."""
    counts = Counter(finding.code for finding in survey.findings)
    examples = {finding.code: finding.message for finding in reversed(survey.findings)}
    entries = ((codes()[code], count) for code, count in counts.items())
    rows = [
        CodeRow(code.code, code.severity, count, code.title, examples[code.code], code.why, code.remedy)
        for code, count in entries
    ]
    return sorted(rows, key=lambda row: (-row.count, row.code))


def names(survey: Survey) -> list[NameRow]:
    """Return the rows of NumPy's names, the most used name first."""
    in_files = Counter(name for file in survey.files for name in file.names)
    rows = [_name(name, count, in_files[name]) for name, count in survey.names.items()]
    return sorted(rows, key=lambda row: (-row.uses, row.name))


def _name(name: str, uses: int, files: int) -> NameRow:
    rule = rules.find(name)
    kind = rule.kind if rule is not None else "kept" if _is_kept(name) else "unknown"
    if rule is not None and kind == "host" and rules.against_staging(name) is None:
        kind = "drawn"
    if rule is not None and rule.new_name and kind != "no":
        support = f"{SUPPORT[kind]}, as {rule.new_name}"
    else:
        support = SUPPORT[kind] + (f": {rule.reason}" if rule is not None and kind == "no" else "")
    return NameRow("np" + name.removeprefix("numpy"), uses, files, kind, support)


def _is_kept(name: str) -> bool:
    """Return whether a name is of a part of NumPy that the translator leaves alone."""
    return name in rules.kept_names() or any(
        name_kept.startswith(f"{name}.") for name_kept in rules.kept_names()
    )


def uses_by_support(rows: Sequence[NameRow]) -> dict[str, int]:
    """Return the number of uses of each kind of support, in the order of `SUPPORT`."""
    uses = {kind: sum(row.uses for row in rows if row.kind == kind) for kind in SUPPORT}
    return {kind: count for kind, count in uses.items() if count}


def share_native(rows: Sequence[NameRow]) -> tuple[int, int]:
    """Return the number of uses that TensorFlow computes, and the number of all uses."""
    return sum(row.uses for row in rows if row.kind in ("native", "drawn")), sum(row.uses for row in rows)


def share_staged(survey: Survey) -> tuple[int, int]:
    """Return the number of compiled functions, and of all functions that compute with arrays."""
    return count_staged(survey.fates), len(survey.fates)
