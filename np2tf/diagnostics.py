"""Codes, diagnostics and reports: what np2tf has to say about a file.

The texts live in rules/diagnostics.toml; a Diagnostic carries a code, a place and the words that fill its
message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from np2tf.rules import read_table
from np2tf.suppressions import Suppressions

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
        """The message without the words of a finding."""
        return re.sub(r"\{\w+\}", "…", self.message)


@lru_cache(maxsize=1)
def codes() -> Mapping[str, Code]:
    """Every declared code."""
    return {code: Code(code=code, **entry) for code, entry in read_table("diagnostics").items()}


@dataclass(frozen=True)
class Diagnostic:
    """One finding: a code, a place (1-based line and column) and the words of its message.

    `end` is the line of the last character that it is about, and the column behind it, where that is known.
    """

    code: str
    path: str
    line: int
    column: int
    args: tuple[tuple[str, str], ...] = ()
    end: tuple[int, int] | None = field(default=None, compare=False)
    cell: int | None = None
    """Of a finding in a notebook: the cell that its line is counted in, from 1."""

    @property
    def source(self) -> str:
        """The text that its line is counted in: the file, or `file:cell 3`."""
        return self.path if self.cell is None else f"{self.path}:cell {self.cell}"

    @property
    def message(self) -> str:
        """The declared message with this finding's words in it."""
        return codes()[self.code].message.format_map(dict(self.args))

    @property
    def severity(self) -> str:
        """`error` (the file is left alone), `warning` (a finding) or `note` (for information)."""
        return codes()[self.code].severity

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}: {self.code} {self.message}"


@dataclass
class Report:
    """Collects the diagnostics of one file; apart from them, those that its comments ask to hide."""

    path: str = "<string>"
    found: list[Diagnostic] = field(default_factory=list)
    suppressed: list[Diagnostic] = field(default_factory=list)
    _suppressions: Suppressions = field(default_factory=Suppressions)

    @classmethod
    def of(cls, path: str, text: str) -> Report:
        """A report that obeys the `# np2tf: ignore[CODE]` comments of `text`."""
        return cls(path, _suppressions=Suppressions.of(text))

    def add(
        self, code: str, line: int, column: int, end: tuple[int, int] | None = None, /, **args: str
    ) -> None:
        """Record a finding, unless it was made already; one that says why a file is left alone cannot be
        suppressed."""
        finding = Diagnostic(code, self.path, line, column, tuple(args.items()), end)
        hidden = finding.severity != "error" and self._suppressions.covering(code, line) is not None
        into = self.suppressed if hidden else self.found
        if finding not in into:
            into.append(finding)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(self.found, key=lambda finding: (finding.line, finding.column, finding.code)))
