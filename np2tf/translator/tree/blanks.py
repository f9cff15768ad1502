"""Blanks that libcst does not print back: form feeds before a statement, and blanks in the last line.

A form feed sets the column back to 0, so that the blanks up to the last form feed of a line are no part of
the indentation. Such blanks are taken out of the text before it is parsed, and put into the tree as lines
without an end, above the statement before which they stood, or at the end of the module.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Mapping

import libcst as cst
from libcst._nodes.internal import CodegenState
from libcst.metadata import MetadataWrapper, PositionProvider

_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
_BEFORE_A_STATEMENT = re.compile(r"[ \t\f]*\f")
_IN_THE_LAST_LINE = re.compile(r"(?<=[\r\n])[ \t\f]+\Z")
_NO_CODE = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING})


class Blanks(cst.EmptyLine):
    """Blanks without a line end, in a place where a tree has lines."""

    @classmethod
    def of(cls, text: str) -> Blanks:
        """Return the blanks with this text."""
        return cls(indent=False, whitespace=cst.SimpleWhitespace(text))

    def _visit_and_replace_children(self, visitor: cst.CSTVisitorT) -> Blanks:
        return self

    def _codegen_impl(self, state: CodegenState) -> None:
        self.whitespace._codegen(state)


def is_blank_line(line: cst.EmptyLine) -> bool:
    """Return whether a line of a tree is a line of the text without a comment."""
    return line.comment is None and not isinstance(line, Blanks)


def parse_module(text: str) -> cst.Module:
    """Return the tree of a text, as `cst.parse_module` does. It prints back blanks that libcst loses."""
    blanks_by_line: dict[int, str] = {}
    last = _IN_THE_LAST_LINE.search(text)
    if last is not None:
        text = text[: last.start()]
    if "\f" in text:
        text, blanks_by_line = _without_form_feeds(text)
    module = cst.parse_module(text)
    if text.endswith("\r"):  # libcst prints back a line feed at the end only
        module = module.with_changes(has_trailing_newline=True)
    if blanks_by_line:
        module = _with_form_feeds(module, blanks_by_line)
    return module if last is None else module.with_changes(footer=[*module.footer, Blanks.of(last[0])])


def _without_form_feeds(text: str) -> tuple[str, dict[int, str]]:
    """Return a text without the form feeds before statements, and the blanks that are missing, by line."""
    lines = _LINE.findall(text)
    blanks_by_line: dict[int, str] = {}
    for number in _first_lines(text):
        blanks = _BEFORE_A_STATEMENT.match(lines[number - 1])
        if blanks is not None:
            blanks_by_line[number] = blanks[0]
            lines[number - 1] = lines[number - 1][blanks.end() :]
    return "".join(lines), blanks_by_line


def _first_lines(text: str) -> Iterator[int]:
    """Yield the number of each line on which a statement, or a clause of a statement, begins."""
    is_first = True
    stream = io.StringIO(_CARRIAGE_RETURN.sub("\n", text))
    for token in tokenize.generate_tokens(stream.readline):
        if token.type == tokenize.NEWLINE:
            is_first = True
        elif is_first and token.type not in _NO_CODE:
            yield token.start[0]
            is_first = False


def _with_form_feeds(module: cst.Module, blanks_by_line: Mapping[int, str]) -> cst.Module:
    """Return the tree with the blanks above each statement that begins on a line of `blanks_by_line`."""
    places: dict[cst.CSTNode, tuple[str, str]] = {}
    for node, code_range in MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider).items():
        blanks = blanks_by_line.get(code_range.start.line)  # type: ignore[attr-defined]
        if blanks is not None and hasattr(node, "leading_lines"):
            is_below_decorators = bool(getattr(node, "decorators", ()))
            places[node] = "lines_after_decorators" if is_below_decorators else "leading_lines", blanks
    changed_module = module.visit(_Insertion(places))
    assert isinstance(changed_module, cst.Module)
    return changed_module


class _Insertion(cst.CSTTransformer):
    def __init__(self, places: Mapping[cst.CSTNode, tuple[str, str]]) -> None:
        super().__init__()
        self._places = places

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        place = self._places.get(original_node)
        if place is None:
            return updated_node
        name, blanks = place
        return updated_node.with_changes(**{name: [*getattr(updated_node, name), Blanks.of(blanks)]})
