"""Findings, fates and new texts as the language server protocol has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property

from lsprotocol import types
from pygls.workspace import PositionCodec

from np2tf.cli.check.edits import lines_of
from np2tf.cli.commands.explain import code_explanation
from np2tf.cli.editor.examination import Examination, FunctionFate
from np2tf.core.diagnostics import Diagnostic, codes
from np2tf.translator.batch.patches import LineMatcher

SOURCE = "np2tf"
SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "note": types.DiagnosticSeverity.Information,
}
#: Codes of findings about text that could as well be missing, which editors show pale.
_UNNECESSARY = frozenset({"NP2TF911"})
#: The maximal length of a hint in a line of code; the whole text is its tooltip.
_HINT_LENGTH = 80
_CODE = re.compile(r"NP2TF\d+")


class Places:
    """Places in a text, whose columns the client counts in units of its own.

    Args:
        codec: converts columns to the client's units, which are of UTF-16 by default.
    """

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._text = text
        self._codec = codec

    @cached_property
    def lines(self) -> list[str]:
        """The lines with their ends."""
        return lines_of(self._text)

    def position(self, line: int, column: int) -> types.Position:
        """Return the position of a line and a column, both counted from 1; at most the end of the text."""
        if line > len(self.lines):
            return self.end
        units = self._codec.client_num_units(self._content(line)[: max(0, column - 1)])
        return types.Position(line - 1, units)

    def line_end(self, line: int) -> types.Position:
        """Return the position behind a line's last character."""
        return self.position(line, len(self._content(line)) + 1) if line <= len(self.lines) else self.end

    @property
    def end(self) -> types.Position:
        """The end of the text."""
        if not self.lines or self.lines[-1].endswith(("\n", "\r")):
            return types.Position(len(self.lines), 0)
        return types.Position(len(self.lines) - 1, self._codec.client_num_units(self.lines[-1]))

    def range_of(self, finding: Diagnostic) -> types.Range:
        """Return the text that a finding is about, or the rest of its line."""
        start = self.position(finding.line, finding.column)
        end = self.line_end(finding.line) if finding.end is None else self.position(*finding.end)
        return types.Range(start, end)

    def edits_to(self, after: str) -> list[types.TextEdit]:
        """Return the edits that make another text of this text, line by line."""
        new = lines_of(after)
        return [
            types.TextEdit(
                types.Range(self.position(first + 1, 1), self.position(behind + 1, 1)),
                "".join(new[start:end]),
            )
            for tag, first, behind, start, end in LineMatcher(self.lines, new).get_opcodes()
            if tag != "equal"
        ]

    def _content(self, line: int) -> str:
        return self.lines[line - 1].rstrip("\r\n")


def diagnostics(examination: Examination, codec: PositionCodec) -> list[types.Diagnostic]:
    """Return the findings of a text."""
    places = Places(examination.text, codec)
    return [_diagnostic(finding, places) for finding in examination.findings]


def _diagnostic(finding: Diagnostic, places: Places) -> types.Diagnostic:
    return types.Diagnostic(
        places.range_of(finding),
        finding.message,
        severity=SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.code in _UNNECESSARY else None,
    )


def overlap(one: types.Range, other: types.Range) -> bool:
    """Return whether two ranges share a character, or touch."""
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: types.Position) -> tuple[int, int]:
    return position.line, position.character


def hover(examination: Examination, position: types.Position, codec: PositionCodec) -> types.Hover | None:
    """Return the reasons and remedies of the findings at a position, and of a code that is written there."""
    places, at = Places(examination.text, codec), types.Range(position, position)
    found = [finding for finding in examination.findings if overlap(places.range_of(finding), at)]
    texts = [code_explanation(codes()[finding.code], finding.message) for finding in found]
    texts += [
        code_explanation(codes()[code])
        for code in _codes_at(places, position)
        if code not in {finding.code for finding in found}
    ]
    if not texts:
        return None
    text = "\n---\n\n".join(dict.fromkeys(texts))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))


def _codes_at(places: Places, position: types.Position) -> Iterator[str]:
    """Yield the code that is written at a position, as in a comment that hides findings."""
    number = position.line + 1
    for match in _CODE.finditer(places.lines[position.line]) if number <= len(places.lines) else ():
        start, end = (places.position(number, column + 1) for column in match.span())
        if match[0] in codes() and overlap(types.Range(start, end), types.Range(position, position)):
            yield match[0]


def inlay_hints(examination: Examination, within: types.Range, codec: PositionCodec) -> list[types.InlayHint]:
    """Return the fates of functions, each at the end of the line with its `def`."""
    places = Places(examination.text, codec)
    hints = []
    for fate in examination.fates:
        position = places.line_end(_line_of_def(fate, places.lines))
        if overlap(types.Range(position, position), within):
            words = fate.words.replace("`", "")
            short = words if len(words) <= _HINT_LENGTH else f"{words[: _HINT_LENGTH - 1]}…"
            tooltip = types.MarkupContent(types.MarkupKind.Markdown, f"np2tf: `{fate.name}`: {fate.words}")
            hints.append(types.InlayHint(position, short, tooltip=tooltip, padding_left=True))
    return hints


def _line_of_def(fate: FunctionFate, lines: Sequence[str]) -> int:
    """Return the line with the function's `def`, which is below the decorators."""
    head = re.compile(rf"\s*(?:async\s+)?def\s+{re.escape(fate.name.rpartition('.')[2])}\b")
    below = range(fate.line, len(lines) + 1)
    return next((line for line in below if head.match(lines[line - 1])), fate.line)
