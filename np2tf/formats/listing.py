"""What a format is given: the findings of a run, and the texts that they are about."""

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

_PLACE = re.compile(r" \([^()]*:\d+\)")


@dataclass
class Listing:
    """The findings of a run.

    Attributes:
        findings: file by file, in the order of the text.
        texts: what the files hold, by path; every file that was looked at is there.
        color: whether the output goes to a terminal that shows colours.
        width: the columns that a line of text may take.
        version: np2tf's.
    """

    findings: Sequence[Diagnostic]
    texts: Mapping[str, str] = field(default_factory=dict)
    color: bool = False
    width: int = 120
    version: str = "0"

    def line(self, path: str, number: int) -> str | None:
        """A line of a file without its end; None where there is none."""
        lines = self._lines.get(path)
        if lines is None:
            text = self.texts.get(path, "").removeprefix("\ufeff")
            lines = self._lines[path] = re.split(r"\r\n|\r|\n", text)
        return lines[number - 1] if 0 < number <= len(lines) else None

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {}

    def end(self, found: Diagnostic) -> tuple[int, int]:
        """The last line that a finding is about, and the column behind its last character."""
        if found.end is not None:
            return found.end
        if found.code == "NP2TF901":
            return found.line, found.column + 1
        line = self.line(found.path, found.line) or ""
        return found.line, max(found.column, len(line.rstrip()) + 1)

    def with_fingerprints(self) -> Iterator[tuple[Diagnostic, str]]:
        """Each finding with a digest that stays when it moves within its file; no two are equal."""
        seen: Counter[str] = Counter()
        for found in self.findings:
            line = (self.line(found.path, found.line) or "").strip()
            parts = (relative(found.path), found.code, _PLACE.sub("", found.message), line)
            key = "\0".join(parts)
            seen[key] += 1
            numbered = f"{key}\0{seen[key]}".encode("utf-8", "backslashreplace")
            yield found, hashlib.sha256(numbered).hexdigest()[:32]


def relative(path: str) -> str:
    """A path as reports have it: with slashes, and seen from the current folder if it lies below."""
    absolute = os.path.abspath(path)
    here = os.getcwd()
    inside = absolute.startswith(here.rstrip(os.sep) + os.sep)
    return Path(os.path.relpath(absolute, here) if inside else absolute).as_posix()
