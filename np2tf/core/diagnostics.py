"""Codes, diagnostics and reports: the findings of np2tf about a file.

The message texts are in rules/diagnostics.toml. A Diagnostic carries a code, a place and the words that fill
its message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from np2tf.core.rules import read_table
from np2tf.core.suppressions import Suppressions

CLEAN, FINDINGS, USAGE, INTERNAL = 0, 1, 2, 123
"""Exit statuses: nothing to do; would change or has findings; wrong usage; np2tf's own fault."""


@dataclass(frozen=True)
class Code:
    """One entry of rules/diagnostics.toml."""

    code: str
    message: str
    why: str
    remedy: str
    severity: str = "warning"

    @property
    def title(self) -> str:
        """The message with "…" in the place of a finding's words."""
        return re.sub(r"\{\w+\}", "…", self.message)


@lru_cache(maxsize=1)
def codes() -> Mapping[str, Code]:
    """Return every declared code."""
    return {code: Code(code=code, **entry) for code, entry in read_table("diagnostics").items()}


@dataclass(frozen=True)
class Diagnostic:
    """One finding: a code, a place (1-based line and column) and the words of its message.

    `end` is the line of the last character of the reported range and the column behind it, if they are known.
    """

    code: str
    path: str
    line: int
    column: int
    args: tuple[tuple[str, str], ...] = ()
    end: tuple[int, int] | None = field(default=None, compare=False)
    cell: int | None = None
    """For a finding in a notebook: the number of the cell, from 1, in which its line is counted."""
    is_fixable: bool = field(default=False, compare=False)
    """Whether `np2tf check --fix` can mend it."""

    @property
    def source(self) -> str:
        """The name of the text in which the line is counted: the file, or `file:cell 3`."""
        return self.path if self.cell is None else f"{self.path}:cell {self.cell}"

    @property
    def place(self) -> str:
        """The place as messages have it: `file:line:column`, or `file:cell 3:line:column`."""
        return f"{self.source}:{self.line}:{self.column}"

    @property
    def message(self) -> str:
        """The declared message, filled with this finding's words."""
        return codes()[self.code].message.format_map(dict(self.args))

    @property
    def severity(self) -> str:
        """`error` (the file stays unchanged), `warning` (a finding) or `note` (information)."""
        return codes()[self.code].severity

    def __str__(self) -> str:
        return f"{self.place}: {self.code} {self.message}"


@dataclass
class Report:
    """The diagnostics of one file. Diagnostics that its comments hide are collected apart."""

    path: str = "<string>"
    findings: list[Diagnostic] = field(default_factory=list)
    suppressed_findings: list[Diagnostic] = field(default_factory=list)
    _suppressions: Suppressions = field(default_factory=Suppressions)

    @classmethod
    def of(cls, path: str, text: str) -> Report:
        """Return a report that obeys the `# np2tf: ignore[CODE]` comments of `text`."""
        return cls(path, _suppressions=Suppressions.of(text))

    def add(
        self,
        code: str,
        line: int,
        column: int,
        end: tuple[int, int] | None = None,
        is_fixable: bool = False,
        /,
        **args: str,
    ) -> None:
        """Record a finding, unless it is already recorded. Comments cannot hide an error, which says why a
        file stays unchanged.
        """
        words = tuple(args.items())
        finding = Diagnostic(code, self.path, line, column, words, end, is_fixable=is_fixable)
        hidden = (
            finding.severity != "error" and self._suppressions.suppression_of_finding(code, line) is not None
        )
        into = self.suppressed_findings if hidden else self.findings
        if finding not in into:
            into.append(finding)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(self.findings, key=lambda finding: (finding.line, finding.column, finding.code)))
