"""Baselines: the findings that a project has today, kept in a file, so that only new findings are shown.

The file is a JSON list with one entry on a line, so that two branches that change it seldom conflict. A
finding is known by its file, its code, its message and the text of its line, so that it may move within the
file. The message is kept as a digest, without the places that it names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from np2tf.cli.check.edits import lines_of
from np2tf.cli.check.findings import ABOUT_SUPPRESSIONS, BY_OTHER_FILES, CheckedFile
from np2tf.cli.files import write
from np2tf.core.diagnostics import Diagnostic

STALE = "NP2TF914"
#: Says whether findings of a code are shown in a file.
IsSelectedIn = Callable[[str, Path], bool]
#: Codes that no baseline hides: the run itself went wrong, or the finding is about hiding.
_ALWAYS_SHOWN = frozenset({*ABOUT_SUPPRESSIONS, STALE, "NP2TF905", "NP2TF906", "NP2TF908"})
_VERSION = 1
_HEADER = {"np2tf": "baseline", "version": _VERSION}
_FIELDS: Mapping[str, type] = {"path": str, "code": str, "count": int, "message": str, "source": str}
_PLACE = re.compile(r" \((?:[^()]*:|line )\d+\)")


class BaselineError(Exception):
    """A file is not a baseline. The message says where and why."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: not a baseline: {reason}")


class FindingKey(NamedTuple):
    """The properties by which a baseline recognises a finding."""

    path: str
    code: str
    message: str
    source: str


@dataclass
class Baseline:
    """The entries of one file: how often each finding is known, and the line of its entry."""

    file: Path
    counts: Counter[FindingKey] = field(default_factory=Counter)
    lines: dict[FindingKey, int] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Baseline:
        """Read a file that `write` has made; any other file raises BaselineError."""
        try:
            text = file.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise BaselineError(file, line, "it is not UTF-8") from None
        baseline = cls(file)
        for line, entry in _entries(file, text):
            key, count = _parse_entry(file, line, entry)
            baseline.counts[key] += count
            baseline.lines.setdefault(key, line)
        return baseline

    def of(self, finding: Diagnostic, text: str) -> FindingKey:
        """Return the entry that stands for a finding in a file or notebook storage with this text."""
        lines = lines_of(text.removeprefix("\ufeff"))
        source = lines[finding.line - 1].strip() if 0 < finding.line <= len(lines) else ""
        return FindingKey(self.name(finding.path), finding.code, _digest(finding.message), source)

    def name(self, path: str) -> str:
        """Return a file's path as entries spell it: relative to the baseline's folder."""
        try:
            return Path(os.path.relpath(path, self.file.parent)).as_posix()
        except ValueError:  # another drive
            return Path(path).absolute().as_posix()

    def new(self, findings: Iterable[Diagnostic], texts: Mapping[str, str]) -> list[Diagnostic]:
        """Return the findings that the baseline does not know, and subtract the known findings from `counts`.

        Entries whose findings do not occur keep a positive count.
        """
        new = []
        for finding in findings:
            key = self.of(finding, texts.get(finding.source, ""))
            if finding.code not in _ALWAYS_SHOWN and self.counts[key] > 0:
                self.counts[key] -= 1
            else:
                new.append(finding)
        return new

    def stale(self, files: Sequence[CheckedFile], is_selected: IsSelectedIn) -> list[Diagnostic]:
        """Return a finding for each entry that `new` has left over.

        Only entries count whose file has been checked with that code selected, or no longer exists.
        """
        looked_at = {self.name(str(file.path)): file for file in files}
        findings = []
        for key, count in sorted(self.counts.items(), key=lambda item: self.lines.get(item[0], 0)):
            if count > 0 and self._is_gone(key, looked_at.get(key.path), is_selected):
                words = {"code": key.code, "file": key.path, "count": str(count), "source": key.source}
                findings.append(Diagnostic(STALE, str(self.file), self.lines[key], 1, tuple(words.items())))
        return findings

    def _is_gone(self, key: FindingKey, file: CheckedFile | None, is_selected: IsSelectedIn) -> bool:
        if file is None:
            return not (self.file.parent / key.path).exists()
        if file.is_failed:
            return False
        return is_selected(key.code, file.path) and (file.is_whole or key.code not in BY_OTHER_FILES)

    def renew(
        self,
        files: Sequence[CheckedFile],
        findings: Iterable[Diagnostic],
        texts: Mapping[str, str],
        is_selected: IsSelectedIn,
    ) -> Baseline:
        """Return a baseline of these findings, and of the entries that this run could not check.

        The run cannot check entries of other files, and entries of codes that were not selected.
        """
        looked_at = {self.name(str(file.path)): file for file in files}
        baseline = Baseline(self.file)
        for key, count in self.counts.items():
            if not self._is_gone(key, looked_at.get(key.path), is_selected):
                baseline.counts[key] = count
        ordinary_findings = [finding for finding in findings if finding.code not in _ALWAYS_SHOWN]
        for key, count in Counter(
            self.of(finding, texts.get(finding.source, "")) for finding in ordinary_findings
        ).items():
            baseline.counts[key] = max(count, baseline.counts[key])
        return baseline

    def write(self) -> int:
        """Write the file anew, and return how many findings it knows."""
        entries: list[object] = [_HEADER]
        for key, count in sorted(self.counts.items()):
            entries.append({**key._asdict(), "count": count})
        body = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
        write(self.file, f"[\n{body}\n]\n".encode("utf-8", "backslashreplace"))
        return sum(self.counts.values())


def _digest(message: str) -> str:
    plain = _PLACE.sub("", message)
    return hashlib.sha256(plain.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _entries(file: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Yield the entries of the list, each with the line in which it begins.

    Raises:
        BaselineError: the text is not a list of JSON values with the right header.
    """
    decoder = json.JSONDecoder()
    place = _after_space(text, 0)
    if text[place : place + 1] != "[":
        raise BaselineError(file, _line(text, place), "it does not begin with `[`")
    separator, number = "[", 0
    while separator != "]":
        place = _after_space(text, place + 1)
        line = _line(text, place)
        try:
            entry, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise BaselineError(file, error.lineno, error.msg) from None
        except RecursionError:
            raise BaselineError(file, line, "it is nested too deeply") from None
        if number == 0 and entry != _HEADER:
            raise BaselineError(file, line, f"its first entry must be {json.dumps(_HEADER)}")
        if number:
            yield line, entry
        number += 1
        place = _after_space(text, place)
        separator = text[place : place + 1]
        if separator not in (",", "]") or not separator:
            raise BaselineError(file, _line(text, place), "`,` or `]` is missing after an entry")
    place = _after_space(text, place + 1)
    if place != len(text):
        raise BaselineError(file, _line(text, place), "something follows the list")


def _parse_entry(file: Path, line: int, entry: Any) -> tuple[FindingKey, int]:
    if not isinstance(entry, dict) or set(entry) != set(_FIELDS):
        raise BaselineError(file, line, f"an entry must have the fields {', '.join(_FIELDS)}")
    for name, kind in _FIELDS.items():
        if type(entry[name]) is not kind:
            raise BaselineError(file, line, f"{name} must be a {'string' if kind is str else 'whole number'}")
    if entry["count"] < 1:
        raise BaselineError(file, line, "count must be at least 1")
    return FindingKey(*(entry[name] for name in FindingKey._fields)), entry["count"]


def _after_space(text: str, place: int) -> int:
    while text[place : place + 1].isspace():
        place += 1
    return place


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
