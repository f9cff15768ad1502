"""`# np2tf: ignore[CODE]` comments: the statements that they cover, and the comments that are malformed.

A comment covers the statement that it stands in or, on a line of its own, the statement that follows. A
statement is a logical line; a compound statement counts as its header with the decorators before it. `#
np2tf: file-ignore[CODE]` covers the file. `# np2tf: off` keeps a function or class as it is. Text in
strings is no comment.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

#: Matches texts that may contain a suppression.
_HINT = re.compile(r"#\s*np2tf\b", re.IGNORECASE)
#: Matches text that is meant as a suppression, up to the next comment on the line.
_COMMENT = re.compile(r"#\s*np2tf\s*(?::|\s(?=\s*(?:file|ignore)))[^#]*", re.IGNORECASE)
_SUPPRESSION = re.compile(r"#\s*np2tf:\s*(ignore|file-ignore|ignore-file)(?:\[([^\[\]]*)\](?=\s|$)|(?=\s*$))")
#: Matches the comment that keeps a function or class from being translated.
OFF = re.compile(r"#\s*np2tf:\s*off\s*(?=#|$)")
_NOT_CODE = frozenset(
    {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
)
_EVERYWHERE = (1, 1 << 60)
_NOWHERE = (0, -1)


@dataclass(frozen=True)
class Suppression:
    """One comment that asks to hide findings.

    Attributes:
        codes: the codes to hide; empty for all codes.
        is_file: whether the comment covers the file.
        first, last: the lines that the comment covers.
        line: the line of the comment.
        start, end: the columns where the comment begins and ends, from 0.
    """

    codes: tuple[str, ...]
    is_file: bool
    first: int
    last: int
    line: int
    start: int
    end: int

    def hides(self, code: str, line: int) -> bool:
        """Return whether the comment covers a finding."""
        return self.first <= line <= self.last and (not self.codes or code in self.codes)


class MalformedComment(NamedTuple):
    """A comment that is meant as a suppression but has wrong syntax, so that it hides nothing."""

    line: int
    start: int
    end: int
    text: str
    reason: str


class Statement(NamedTuple):
    """The first and the last line of one statement."""

    first: int
    last: int


class _Comment(NamedTuple):
    line: int
    column: int
    text: str


@dataclass
class Suppressions:
    """The suppressions of one file."""

    comments: list[Suppression] = field(default_factory=list)
    malformed_comments: list[MalformedComment] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> Suppressions:
        """Return the suppressions of a source; none if the source has errors that keep it from being read."""
        suppressions = cls()
        if _HINT.search(text):
            try:
                for comment, lines in _comments_with_lines(text):
                    suppressions._take(comment, lines)
            except (tokenize.TokenError, SyntaxError):
                return cls()
        return suppressions

    def suppression_of_finding(self, code: str, line: int) -> Suppression | None:
        """Return the suppression that hides a finding; a suppression of its statement is preferred to one of
        the file.
        """
        comments = [comment for comment in self.comments if comment.hides(code, line)]
        return min(comments, key=lambda comment: (comment.is_file, not comment.codes), default=None)

    def suppression_of_suppression(self, code: str, line: int) -> Suppression | None:
        """Return the suppression that hides a finding about a suppression.

        It must name the code, and must cover the comment or be the comment itself.
        """
        comments = [
            comment
            for comment in self.comments
            if code in comment.codes and (comment.hides(code, line) or comment.line == line)
        ]
        return min(comments, key=lambda comment: comment.is_file, default=None)

    def _take(self, comment: _Comment, covered_lines: tuple[int, int]) -> None:
        for occurrence in _COMMENT.finditer(comment.text):
            text = occurrence[0].rstrip()
            if OFF.match(text):
                continue
            start = comment.column + occurrence.start()
            place = (comment.line, start, start + len(text))
            match = _SUPPRESSION.match(text)
            codes = tuple(code.strip() for code in (match[2] or "").split(",")) if match else ()
            reason = _wrong_with(text, match, codes)
            if match is None or reason:
                self.malformed_comments.append(MalformedComment(*place, text, reason))
                continue
            is_file = match[1] != "ignore"
            covers = _EVERYWHERE if is_file else covered_lines
            self.comments.append(Suppression(codes if match[2] else (), is_file, *covers, *place))


def switched_off(text: str) -> frozenset[int]:
    """Return the first lines of the statements with a comment `# np2tf: off`, decorators among them."""
    if not re.search(r"#\s*np2tf:\s*off", text):
        return frozenset()
    try:
        return frozenset(
            lines[0] for comment, lines in _comments_with_lines(text) if OFF.search(comment.text)
        )
    except (tokenize.TokenError, SyntaxError):
        return frozenset()


def _wrong_with(text: str, match: re.Match[str] | None, codes: tuple[str, ...]) -> str:
    if match is not None:
        bad = [code for code in codes if not re.fullmatch(r"[\w-]+", code)]
        if match[2] is None or not bad:
            return ""
        return "its brackets contain no code" if bad[0] == "" else "codes must be separated by commas"
    if not re.match(r"#\s*np2tf:", text):
        return "it must begin with `np2tf:`"
    if not re.match(r"#\s*np2tf:\s*(file-ignore|ignore-file|ignore)\b", text):
        return "it is neither `ignore` nor `file-ignore`"
    if text.count("[") != text.count("]"):
        return "a bracket is missing"
    return "codes must be in brackets"


def statements(text: str) -> list[Statement]:
    """Return the statements of a source, in order."""
    return [statement for statement, _ in _logical_lines(text) if statement != _NOWHERE]


def _comments_with_lines(text: str) -> Iterator[tuple[_Comment, tuple[int, int]]]:
    """Yield every comment with the lines that it covers if it is a suppression."""
    for statement, comments in _logical_lines(text):
        yield from ((comment, statement) for comment in comments)


def _logical_lines(text: str) -> Iterator[tuple[Statement, list[_Comment]]]:
    """Yield each statement with the comments in it and before it. Comments that cover no statement come
    last.
    """
    first = 0
    is_begun = is_decorator = False
    comments: list[_Comment] = []
    # Line ends are counted as Python counts them, and a byte order mark is not part of the text.
    readable = io.StringIO(text.removeprefix("\ufeff"), newline=None)
    for token in tokenize.generate_tokens(readable.readline):
        if token.type == tokenize.COMMENT:
            comments.append(_Comment(*token.start, token.string))
        elif token.type == tokenize.NEWLINE and is_begun:
            if not is_decorator:
                yield Statement(first, token.start[0]), comments
                first, comments = 0, []
            is_begun = is_decorator = False
        elif token.type not in _NOT_CODE and not is_begun:
            is_begun, is_decorator = True, token.string == "@"
            first = first or token.start[0]
    if comments:
        yield Statement(*_NOWHERE), comments
