"""The output formats of findings: text, concise, JSON, GitHub, GitLab, SARIF, JUnit."""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

from np2tf.core.diagnostics import Diagnostic, codes

__all__ = [
    "FORMATS",
    "FOR_PEOPLE",
    "Listing",
    "render",
]


# -- listing -------------------------------------------------------------------------------------------------
# The input of a format: the findings of a run, and the texts that they are about.

_PLACE = re.compile(r" \((?:[^()]*:|line )\d+\)")


@dataclass
class Listing:
    """The findings of a run.

    Attributes:
        findings: the findings, file by file, in the order of the text.
        texts: the texts of the files, by path, and of the cells of notebooks, by `Diagnostic.source`.
        files: the paths of all files that were checked.
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


# -- concise -------------------------------------------------------------------------------------------------
# One line per finding, `file:line:column: CODE message`, for editors and for `grep`.


def as_concise(listing: Listing) -> str:
    """Return the findings, one on each line."""
    return "".join(
        f"{finding.place}: {finding.code}{_mark(finding)} {finding.message}\n" for finding in listing.findings
    )


def _mark(finding: Diagnostic) -> str:
    """Return the mark of a finding that `--fix` mends; an empty text for another finding."""
    return " [*]" if finding.is_fixable else ""


# -- as json -------------------------------------------------------------------------------------------------
# Findings as a JSON list of objects.


def as_json(listing: Listing) -> str:
    """Return the findings with all their fields."""
    return json.dumps([_entry(finding, listing) for finding in listing.findings], indent=2) + "\n"


def _entry(finding: Diagnostic, listing: Listing) -> dict[str, object]:
    end_line, end_column = listing.end(finding)
    return {
        "path": finding.path,
        "cell": finding.cell,
        "line": finding.line,
        "column": finding.column,
        "end_line": end_line,
        "end_column": end_column,
        "code": finding.code,
        "severity": finding.severity,
        "fixable": finding.is_fixable,
        "message": finding.message,
        "remedy": codes()[finding.code].remedy,
    }


# -- github --------------------------------------------------------------------------------------------------
# Findings as workflow commands, which GitHub shows beside the lines of a pull request.

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def as_github(listing: Listing) -> str:
    """Return one workflow command for each finding."""
    return "".join(_command(finding, listing) for finding in listing.findings)


def _command(finding: Diagnostic, listing: Listing) -> str:
    line, column, end_line, end_column = listing.place(finding)
    path = relative(finding.path)
    properties = {"title": f"np2tf ({finding.code})", "file": path, "line": line, "endLine": end_line}
    if end_line == line:  # GitHub refuses columns of a range over several lines
        properties |= {"col": column, "endColumn": end_column}
    parameters = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    text = f"{path}:{line}:{column}: {finding.code} {listing.message(finding)}"
    return f"::{_COMMANDS[finding.severity]} {parameters}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# -- gitlab --------------------------------------------------------------------------------------------------
# Findings as GitLab's code quality report.

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def as_gitlab(listing: Listing) -> str:
    """Return a list of issues. GitLab recognises known issues by their fingerprints."""
    issues = [_issue(finding, mark, listing) for finding, mark in listing.with_fingerprints()]
    return json.dumps(issues, indent=2) + "\n"


def _issue(finding: Diagnostic, fingerprint: str, listing: Listing) -> dict[str, object]:
    line, column, end_line, end_column = listing.place(finding)
    return {
        "check_name": finding.code,
        "description": f"{finding.code}: {listing.message(finding)}",
        "fingerprint": fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {
            "path": relative(finding.path),
            "positions": {
                "begin": {"line": line, "column": column},
                "end": {"line": end_line, "column": end_column},
            },
        },
    }


# -- sarif ---------------------------------------------------------------------------------------------------
# Findings as SARIF 2.1.0, which code scanning services read.

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "SRCROOT"


def as_sarif(listing: Listing) -> str:
    """Return one run, with the rules of the codes that occur."""
    rules = sorted({finding.code for finding in listing.findings})
    driver = {"name": "np2tf", "version": listing.version, "rules": [_rule(code) for code in rules]}
    results = [_result(finding, mark, rules, listing) for finding, mark in listing.with_fingerprints()]
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": Path.cwd().as_uri() + "/"}},
        "invocations": [
            {"executionSuccessful": not any(finding.code == "NP2TF905" for finding in listing.findings)}
        ],
        "results": results,
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(code: str) -> dict[str, object]:
    entry = codes()[code]
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.why},
        "help": {"text": entry.remedy},
        "defaultConfiguration": {"level": entry.severity},
    }


def _result(finding: Diagnostic, fingerprint: str, rules: list[str], listing: Listing) -> dict[str, object]:
    line, column, end_line, end_column = listing.place(finding)
    region = {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
    }
    location = {"artifactLocation": _artifact(finding.path), "region": region}
    return {
        "ruleId": finding.code,
        "ruleIndex": rules.index(finding.code),
        "level": finding.severity,
        "message": {"text": listing.message(finding)},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"np2tf/v1": fingerprint},
    }


def _artifact(path: str) -> dict[str, str]:
    """Return the location of a file: relative if it lies below the current folder, else absolute."""
    short = relative(path)
    if Path(short).is_absolute():
        return {"uri": "file://" + quote(short, errors="surrogateescape")}
    return {"uri": quote(short, errors="surrogateescape"), "uriBaseId": _ROOT}


# -- junit ---------------------------------------------------------------------------------------------------
# Findings as JUnit's XML: each file is a suite, each finding a failed test. Notes are not failures.

#: Characters that XML 1.0 cannot hold.
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(listing: Listing) -> str:
    """Return one suite for each file that was checked. A file without findings is a test that passed."""
    groups = {path: list(group) for path, group in groupby(listing.findings, lambda finding: finding.path)}
    suites = ElementTree.Element("testsuites", name="np2tf")
    total = failure_count = 0
    for path in dict.fromkeys((*listing.files, *groups)):
        findings = groups.get(path, [])
        failures = sum(finding.severity != "note" for finding in findings)
        name = _legal(relative(path))
        tests = max(1, len(findings))
        counts = {"tests": str(tests), "failures": str(failures), "errors": "0", "skipped": "0"}
        suite = ElementTree.SubElement(suites, "testsuite", {"name": name, **counts})
        if not findings:
            ElementTree.SubElement(suite, "testcase", name="np2tf", classname=_class(name))
        for finding in findings:
            _case(suite, finding, name, listing)
        total, failure_count = total + tests, failure_count + failures
    suites.attrib.update(tests=str(total), failures=str(failure_count), errors="0")
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, "unicode") + "\n"


def _case(suite: ElementTree.Element, finding: Diagnostic, name: str, listing: Listing) -> None:
    line, column, *_ = listing.place(finding)
    title = f"{finding.code} {line}:{column}"
    where = {"file": name, "line": str(line)}
    case = ElementTree.SubElement(suite, "testcase", {"name": title, "classname": _class(name), **where})
    message = _legal(listing.message(finding))
    text = f"{name}:{line}:{column}: {finding.code} {message}"
    if finding.severity == "note":
        ElementTree.SubElement(case, "system-out").text = text
    else:
        failure = ElementTree.SubElement(case, "failure", message=message, type=finding.code)
        failure.text = text


def _class(name: str) -> str:
    return name.removesuffix(".py").replace("/", ".").strip(".")


def _legal(text: str) -> str:
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)


# -- text ----------------------------------------------------------------------------------------------------
# Findings with the lines that they are about, with the faulty part underlined: for people.

_TAB = 4
#: The most lines of a finding that are shown.
_LINES = 4
_ELLIPSIS = "…"
_COLORS = {"error": "31", "warning": "33", "note": "36"}


def as_text(listing: Listing) -> str:
    """Return the findings, each with a frame of source lines."""
    return "".join(f"{line}\n" for finding in listing.findings for line in _finding_lines(finding, listing))


def _finding_lines(finding: Diagnostic, listing: Listing) -> Iterator[str]:
    color = _COLORS[finding.severity] if listing.color else ""
    path, message = ("".join(map(_printable, text)) for text in (finding.source, finding.message))
    place = _style(f"{path}:{finding.line}:{finding.column}:", "1" if color else "")
    yield f"{place} {_style(finding.code, color and f'1;{color}')}{_mark(finding)} {message}"
    if not _is_of_the_file(finding):
        yield from _frame(finding, listing, color)


def _is_of_the_file(finding: Diagnostic) -> bool:
    """Return whether a finding is about its file as a whole, and line 1, column 1 only stands for that."""
    return finding.severity == "error" and finding.end is None and (finding.line, finding.column) == (1, 1)


def _frame(finding: Diagnostic, listing: Listing, color: str) -> Iterator[str]:
    last, behind = listing.end(finding)
    line_numbers = range(finding.line, min(last, finding.line + _LINES - 1) + 1)
    margin = len(str(line_numbers[-1]))
    empty = _style(f"{'':{margin}} |", color and "2")
    is_begun = False
    for number in line_numbers:
        line = listing.line(finding.source, number)
        if line is None or not line.strip():
            continue
        begin = finding.column - 1 if number == finding.line else 0
        begin = (
            max(begin, len(line) - len(line.lstrip()))
            if number != finding.line or finding.end is None
            else begin
        )
        end = min(behind - 1, len(line)) if number == last else len(line.rstrip())
        code, under = _underline(line, begin, max(end, begin + 1), max(20, listing.width - margin - 3))
        if not is_begun:
            yield empty
            is_begun = True
        yield f"{_style(f'{number:{margin}} |', color and '2')} {code}".rstrip()
        yield f"{empty} {under[: len(under) - len(under.lstrip())]}{_style(under.lstrip(), color)}"
    if is_begun:
        yield empty


def _underline(line: str, begin: int, end: int, width: int) -> tuple[str, str]:
    """Return a line as a terminal can show it, and the line of marks below the characters from `begin` to
    `end`.
    """
    cells: list[str] = []
    for character in line:
        if character == "\t":
            cells.append(" " * (_TAB - _width("".join(cells)) % _TAB))
        else:
            cells.append(_printable(character))
    cells += [" "] * (end - len(cells))
    first, last = _window([_width(cell) for cell in cells], begin, end, width)
    before, behind = _ELLIPSIS * (first > 0), _ELLIPSIS * (last < len(cells))
    code = before + "".join(cells[first:last]) + behind
    lead = len(before) + _width("".join(cells[first:begin]))
    return code, " " * lead + "^" * max(1, _width("".join(cells[begin : min(end, last)])))


def _window(widths: list[int], begin: int, end: int, width: int) -> tuple[int, int]:
    """Return the range of a line's cells that is shown: all, or as much around `begin` as fits."""
    if sum(widths) <= width:
        return 0, len(widths)
    first, last = begin, begin
    room = width - 2 * len(_ELLIPSIS)
    while last < len(widths) and (last < end or last == begin) and widths[last] <= room:
        room -= widths[last]
        last += 1
    while room > 0 and (first > 0 or last < len(widths)):
        before = first > 0 and widths[first - 1] <= room
        behind = last < len(widths) and widths[last] <= room - (widths[first - 1] if before else 0)
        if not before and not behind:
            break
        if before:
            first -= 1
            room -= widths[first]
        if behind:
            room -= widths[last]
            last += 1
    return first, last


def _printable(character: str) -> str:
    """Return a character, or a replacement if it would move the cursor or change the terminal's state."""
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return "\N{REPLACEMENT CHARACTER}"
    return character


def _width(text: str) -> int:
    """Return the columns that a text takes in a terminal."""
    return sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _style(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m" if style and text else text


# -- formats -------------------------------------------------------------------------------------------------
#: Each format's name, and the function that writes it.
FORMATS: dict[str, Callable[[Listing], str]] = {
    "text": as_text,
    "concise": as_concise,
    "json": as_json,
    "github": as_github,
    "gitlab": as_gitlab,
    "sarif": as_sarif,
    "junit": as_junit,
}
#: The formats that people read.
FOR_PEOPLE = frozenset({"text", "concise"})


def render(name: str, listing: Listing) -> str:
    """Return the findings in a format, with a line end behind the last line; an empty text if there is no
    output.
    """
    return FORMATS[name](listing)
