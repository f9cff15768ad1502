"""The input of a format: the findings of a run, and the texts that they are about."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from np2tf.diagnostics import Diagnostic

_PLACE = re.compile(r" \((?:[^()]*:|line )\d+\)")


@dataclass
class Listing:
    """The findings of a run.

    Attributes:
        findings: the findings, file by file, in the order of the text.
        texts: the texts of the files, by path, and of the cells of notebooks, by `Diagnostic.source`.
        files: the paths of all files that were checked.
        color: whether the output goes to a terminal that shows colours.
        width: the columns that a line of text may take.
        version: the version of np2tf.
    """

    findings: Sequence[Diagnostic]
    texts: Mapping[str, str] = field(default_factory=dict)
    files: Sequence[str] = ()
    color: bool = False
    width: int = 120
    version: str = "0"

    def line(self, source: str, number: int) -> str | None:
        """Return a line of a file or cell without its end; None if there is no such line."""
        lines = self._lines.get(source)
        if lines is None:
            text = self.texts.get(source, "").removeprefix("\ufeff")
            lines = self._lines[source] = re.split(r"\r\n|\r|\n", text)
        return lines[number - 1] if 0 < number <= len(lines) else None

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {}

    def end(self, finding: Diagnostic) -> tuple[int, int]:
        """Return the last line that a finding is about, and the column behind its last character."""
        if finding.end is not None:
            return finding.end
        if finding.code == "NP2TF901":
            return finding.line, finding.column + 1
        line = self.line(finding.source, finding.line) or ""
        return finding.line, max(finding.column, len(line.rstrip()) + 1)

    def place(self, finding: Diagnostic) -> tuple[int, int, int, int]:
        """Return the place of a finding in its file: line, column, last line, and the column behind the end.

        A finding in a notebook cell is placed at the beginning of the file, because these formats know lines
        only.
        """
        if finding.cell is not None:
            return 1, 1, 1, 2
        return finding.line, finding.column, *self.end(finding)

    def message(self, finding: Diagnostic) -> str:
        """Return the message; for a finding in a notebook cell, with the cell and the line in front."""
        where = f"cell {finding.cell}, line {finding.line}: " if finding.cell is not None else ""
        return where + finding.message

    def with_fingerprints(self) -> Iterator[tuple[Diagnostic, str]]:
        """Yield each finding with a digest that does not change when it moves within its file. No two are
        equal.
        """
        counts: Counter[str] = Counter()
        for finding in self.findings:
            line = (self.line(finding.source, finding.line) or "").strip()
            parts = (relative(finding.path), finding.code, _PLACE.sub("", finding.message), line)
            key = "\0".join(parts)
            counts[key] += 1
            data = f"{key}\0{counts[key]}".encode("utf-8", "backslashreplace")
            yield finding, hashlib.sha256(data).hexdigest()[:32]


def relative(path: str) -> str:
    """Return a path as reports spell it: with slashes, relative to the current folder if it lies below."""
    absolute = os.path.abspath(path)
    here = os.getcwd()
    inside = absolute.startswith(here.rstrip(os.sep) + os.sep)
    return Path(os.path.relpath(absolute, here) if inside else absolute).as_posix()
