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

CLEAN, FINDINGS, USAGE, INTERNAL = 0, 1, 2, 123
"""Exit statuses: nothing to do; would change or has findings; wrong usage; np2tf's own fault."""

_IGNORE = re.compile(r"#\s*np2tf:\s*ignore(-file)?(?:\[([A-Z0-9,\s]*)\])?")


@dataclass(frozen=True)
class Code:
    """One entry of rules/diagnostics.toml."""

    code: str
    message: str
    why: str
    remedy: str
    severity: str = "warning"


@lru_cache(maxsize=1)
def codes() -> Mapping[str, Code]:
    """Every declared code."""
    return {code: Code(code=code, **entry) for code, entry in read_table("diagnostics").items()}


@dataclass(frozen=True)
class Diagnostic:
    """One finding: a code, a place (1-based line and column) and the words of its message."""

    code: str
    path: str
    line: int
    column: int
    args: tuple[tuple[str, str], ...] = ()

    @property
    def message(self) -> str:
        """The declared message with this finding's words in it."""
        return codes()[self.code].message.format_map(dict(self.args))

    @property
    def severity(self) -> str:
        """`error` (the file is left alone), `warning` (a finding) or `note` (for information)."""
        return codes()[self.code].severity

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.code} {self.message}"


@dataclass
class Report:
    """Collects the diagnostics of one file, less those its comments ask to ignore."""

    path: str = "<string>"
    found: list[Diagnostic] = field(default_factory=list)
    _lines: dict[int, frozenset[str]] = field(default_factory=dict)
    _file: frozenset[str] = frozenset()

    @classmethod
    def of(cls, path: str, text: str) -> Report:
        """A report that obeys the `# np2tf: ignore[CODE]` comments of `text`."""
        report = cls(path)
        if "np2tf:" in text:
            for number, line in enumerate(text.splitlines(), 1):
                match = _IGNORE.search(line)
                if match is None:
                    continue
                named = frozenset(re.findall(r"\w+", match[2] or "")) or frozenset({"*"})
                alone = line.lstrip().startswith("#")
                if match[1]:
                    report._file |= named
                else:
                    report._lines[number + alone] = named
        return report

    def add(self, code: str, line: int, column: int, /, **args: str) -> None:
        """Record a finding, unless it is ignored or was made already."""
        declared = codes()[code]
        for ignored in (self._file, self._lines.get(line, frozenset())):
            if declared.severity != "error" and ("*" in ignored or code in ignored):
                return
        finding = Diagnostic(code, self.path, line, column, tuple(args.items()))
        if finding not in self.found:
            self.found.append(finding)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(sorted(self.found, key=lambda finding: (finding.line, finding.column, finding.code)))
