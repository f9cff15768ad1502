"""Maps translated code to the user's file: the nodes of Python's tree get their places in the source.

The translation is parsed. Each node of Python's tree gets the place of the source node that the libcst node
at its own place stands for (`np2tf.imports.code.node_matching`), or the place of the code around it.
Tracebacks, warnings, coverage and debuggers then refer to the user's file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from libcst.metadata import CodeRange

from np2tf.facts.module.positions import positions
from np2tf.imports.code.node_matching import BLOCKS, STATEMENTS, Matching
from np2tf.pipeline import Result
from np2tf.tree.source import Source

#: First line, column, last line, column; lines from 1, columns in bytes from 0, as in Python's tree.
Place = tuple[int, int, int, int]


class SourceMap:
    """The places of a translation's nodes in its source."""

    def __init__(self, source: Source, result: Result) -> None:
        """Match `result`, the translation of `source`, with the source. The result must have a tree."""
        output = result.tree
        assert output is not None
        matching = Matching(source.module, output, result.origins)
        self._source = _lines(source.text)
        self._by_range: dict[Place, Place] = {}
        self._by_start: dict[tuple[int, int], Place] = {}
        in_source, in_output = _columns(self._source), _columns(_lines(result.text))
        for node, where in positions(output).items():
            stands_for = matching.sources.get(node)
            if stands_for is None:
                continue
            output_place = _place(where, in_output)
            source_place = _place(matching.places[stands_for], in_source)
            if isinstance(stands_for, BLOCKS):
                source_place = self._header(source_place)
            if isinstance(node, STATEMENTS):
                self._by_start.setdefault(output_place[:2], source_place)
            elif not isinstance(stands_for, BLOCKS):
                self._by_range.setdefault(output_place, source_place)

    def relocate(self, tree: ast.AST, down: int = 0, right: int = 0) -> None:
        """Give every node of the parsed translation its place in the source.

        For text from the middle of a file, `down` and `right` are added to its lines and columns.
        """
        self._visit(tree, (1, 0, 1, 0), down, right)

    def _visit(self, node: ast.AST, around: Place, down: int, right: int) -> None:
        if hasattr(node, "lineno"):
            around = self._of(node, around)
            node.lineno, node.col_offset = max(around[0] + down, 1), around[1] + right  # type: ignore[attr-defined]
            node.end_lineno = max(around[2] + down, 1)  # type: ignore[attr-defined]
            node.end_col_offset = around[3] + right  # type: ignore[attr-defined]
        for child in ast.iter_child_nodes(node):
            self._visit(child, around, down, right)

    def _of(self, node: ast.AST, around: Place) -> Place:
        start = (node.lineno, node.col_offset)  # type: ignore[attr-defined]
        if isinstance(node, (ast.stmt, ast.ExceptHandler)):
            return self._by_start.get(start, around)
        end = (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return self._by_range.get((*start, *end), around)

    def _header(self, place: Place) -> Place:
        """Return the place of a block's first line, which stands for all code made from the block."""
        line, column = place[:2]
        text = self._source[line - 1] if line <= len(self._source) else ""
        return line, column, line, max(column, len(text.rstrip().encode("utf-8", "surrogatepass")))


def _lines(text: str) -> list[str]:
    return re.split("\r\n|\r|\n", text.removeprefix("\ufeff"))


def _columns(lines: list[str]) -> Callable[[int, int], int]:
    """Return a function from columns in characters, as libcst counts, to columns in bytes, as Python's tree
    counts.
    """
    plain = [line.isascii() for line in lines]

    def in_bytes(line: int, column: int) -> int:
        if line > len(lines) or plain[line - 1]:
            return column
        return len(lines[line - 1][:column].encode("utf-8", "surrogatepass"))

    return in_bytes


def _place(where: CodeRange, in_bytes: Callable[[int, int], int]) -> Place:
    start, end = where.start, where.end
    return start.line, in_bytes(start.line, start.column), end.line, in_bytes(end.line, end.column)
