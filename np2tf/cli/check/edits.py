"""Write suppressions into files, and remove them. All other text stays byte for byte."""

from __future__ import annotations

import ast
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path

from np2tf.cli.check.findings import ABOUT_SUPPRESSIONS, UnusedSuppression
from np2tf.cli.files import write
from np2tf.core.diagnostics import Diagnostic
from np2tf.core.suppressions import Statement, Suppression, Suppressions, statements
from np2tf.translator.tree.source import Source, SourceError

#: A line with its end, as Python counts lines: a form feed does not end a line.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_BOM = "\ufeff"


def lines_of(text: str) -> list[str]:
    """Return the lines of a source with their ends."""
    return _LINE.findall(text)


def with_suppressions(text: str, findings: Iterable[Diagnostic]) -> tuple[str, int]:
    """Add a suppression to every statement with a finding; return the text, and how many findings that hides.

    If the statement has such a comment already, the comment gets the codes.
    """
    bom, body = _split(text)
    lines, places, there = lines_of(body), statements(body), Suppressions.of(body).comments
    codes_by_place: dict[Statement, list[str]] = {}
    count = 0
    for finding in findings:
        place = _around(places, finding.line)
        if place is None or finding.severity == "error" or finding.code in ABOUT_SUPPRESSIONS:
            continue
        codes_by_place.setdefault(place, []).append(finding.code)
        count += 1
    edits: list[tuple[int, int, int, str]] = []
    for place, codes in codes_by_place.items():
        old = next((suppression for suppression in there if _is_at(suppression, place)), None)
        if old is not None:
            new = _with_codes(_text_of(old, lines), sorted({*old.codes, *codes}))
            edits.append((old.line, old.start, old.end, new))
        else:
            end = len(lines[place.last - 1].rstrip("\r\n"))
            edits.append((place.last, end, end, f"  # np2tf: ignore[{', '.join(sorted(set(codes)))}]"))
    return bom + _apply_edits(lines, edits), count


def without(text: str, unused_suppressions: Sequence[UnusedSuppression]) -> str:
    """Return the text without the suppressions that hide nothing."""
    bom, body = _split(text)
    lines = lines_of(body)
    idle: dict[Suppression, set[str]] = {}
    for suppression in unused_suppressions:
        idle.setdefault(suppression.comment, set()).update(suppression.codes)
    edits = []
    for comment, codes in idle.items():
        left = [code for code in dict.fromkeys(comment.codes) if code not in codes]
        if left:
            new = _with_codes(_text_of(comment, lines), left)
            edits.append((comment.line, comment.start, comment.end, new))
        else:
            edits.append(_removal(comment, lines[comment.line - 1]))
    return bom + _apply_edits(lines, edits)


def rewrite(path: Path, before: str, after: str) -> None:
    """Write the text `after`, which differs from the file's text `before` in comments alone.

    Raises:
        ValueError: the file has changed since, or the new text changes more than comments. The file stays as
            it was.
        OSError: the file cannot be read or written. It stays as it was.
    """
    data = path.read_bytes()
    try:
        source = Source.of(data, str(path))
    except SourceError as error:
        raise ValueError(error.diagnostic.message) from None
    if source.original != before:
        raise ValueError("it has changed in the meantime")
    if not differs_in_comments(before, after):
        raise ValueError("there is no place for a comment")
    write(path, source.bytes_of(after))


def differs_in_comments(before: str, after: str) -> bool:
    """Return whether two programs differ in comments and blanks alone: none has got into a string."""
    return _syntax_of(before) == _syntax_of(after)


def _split(text: str) -> tuple[str, str]:
    return (_BOM, text[1:]) if text.startswith(_BOM) else ("", text)


def _around(places: Sequence[Statement], line: int) -> Statement | None:
    """Return the statement that a line is part of."""
    index = bisect_right(places, line, key=lambda place: place.first) - 1
    return places[index] if index >= 0 and line <= places[index].last else None


def _is_at(comment: Suppression, place: Statement) -> bool:
    """Return whether a comment with codes covers exactly this statement."""
    return bool(comment.codes) and not comment.is_file and (comment.first, comment.last) == place


def _text_of(comment: Suppression, lines: Sequence[str]) -> str:
    return lines[comment.line - 1][comment.start : comment.end]


def _with_codes(comment: str, codes: Iterable[str]) -> str:
    return re.sub(r"\[[^\]]*\]", f"[{', '.join(codes)}]", comment, count=1)


def _removal(comment: Suppression, line: str) -> tuple[int, int, int, str]:
    before, behind = line[: comment.start], line[comment.end :]
    if not before.strip() and not behind.strip():
        return comment.line, 0, len(line), ""
    if behind.strip():  # another comment on the line moves to the left
        return comment.line, comment.start, len(line) - len(behind.lstrip()), ""
    return comment.line, len(before.rstrip()), comment.end, ""


def _apply_edits(lines: Sequence[str], edits: Iterable[tuple[int, int, int, str]]) -> str:
    result = list(lines)
    for line, start, end, new in sorted(edits, reverse=True):
        old = result[line - 1]
        result[line - 1] = old[:start] + new + old[end:]
    return "".join(result)


def _syntax_of(text: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.dump(ast.parse(text.removeprefix(_BOM)))
