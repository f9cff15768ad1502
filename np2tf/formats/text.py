"""Findings with the lines that they are about, with the faulty part underlined: for people."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from np2tf.diagnostics import Diagnostic
from np2tf.formats.listing import Listing

_TAB = 4
#: The most lines of a finding that are shown.
_LINES = 4
_ELLIPSIS = "…"
_COLORS = {"error": "31", "warning": "33", "note": "36"}


def render(listing: Listing) -> str:
    """Return the findings, each with a frame of source lines."""
    return "".join(f"{line}\n" for finding in listing.findings for line in _finding_lines(finding, listing))


def _finding_lines(finding: Diagnostic, listing: Listing) -> Iterator[str]:
    color = _COLORS[finding.severity] if listing.color else ""
    path, message = ("".join(map(_printable, text)) for text in (finding.source, finding.message))
    place = _style(f"{path}:{finding.line}:{finding.column}:", "1" if color else "")
    yield f"{place} {_style(finding.code, color and f'1;{color}')} {message}"
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
