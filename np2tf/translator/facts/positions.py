"""The position of each node in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from np2tf.translator.tree.nodes import Parents
from np2tf.translator.tree.printing import block_in, inner_parts, line_ends, parts, with_body


class _Provider(PositionProvider):
    """libcst's provider without its metadata wrapper, which would copy the tree and walk it once more."""

    def of(
        self, module: cst.Module, node: cst.CSTNode, line: int = 1, indents: Sequence[str] = ()
    ) -> Mapping[cst.CSTNode, CodeRange]:
        """Print a node that begins on a line, and record the position of each node in it."""
        state = PositionProvidingCodegenState(
            default_indent=module.default_indent,
            default_newline=module.default_newline,
            provider=self,
            indent_tokens=list(indents),
        )
        state.line = line
        node._codegen(state)
        return self._computed  # type: ignore[return-value]


class _NoBlock:
    """Stands for the block of a statement of which only the header is printed."""

    def _codegen(self, state: PositionProvidingCodegenState) -> None:
        state.before_codegen(self)  # type: ignore[arg-type]
        state.after_codegen(self)  # type: ignore[arg-type]


def positions(module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
    """Return the range of every node, lines from 1 and columns from 0."""
    return _Provider().of(module, module)


@dataclass(frozen=True)
class _Place:
    """A statement, the line on which its text begins, and the indentations around it."""

    statement: cst.CSTNode
    line: int
    indents: tuple[str, ...] = ()


class Positions:
    """The ranges of the nodes of a module, found for one statement at a time.

    The range of a statement with a block ends with its header.
    """

    def __init__(self, module: cst.Module, parents: Parents) -> None:
        self._module = module
        self._parents = parents
        self._ranges: dict[cst.CSTNode, CodeRange] = {}
        self._inner: dict[cst.CSTNode, Mapping[cst.CSTNode, int]] = {}

    def __getitem__(self, node: cst.CSTNode) -> CodeRange:
        """Return the range of a node, lines from 1 and columns from 0."""
        code_range = self._ranges.get(node)
        if code_range is None:
            self._ranges.update(self._around(node))
            code_range = self._ranges[node]
        return code_range

    def _around(self, node: cst.CSTNode) -> Mapping[cst.CSTNode, CodeRange]:
        """Return the ranges of the nodes of the innermost statement that a node is in."""
        path = [node, *self._parents.above(node)][:-1]  # without the module
        if not path:
            return _Provider().of(self._module, self._module)
        place = _Place(path[-1], self._first_lines[path[-1]])
        while (inner := self._inside(place, path)) is not None:
            place = inner
        statement = place.statement
        block = block_in(statement)
        if block is None or block in path or (node is not statement and _has_more(statement)):
            return _Provider().of(self._module, statement, place.line, place.indents)
        header = with_body(statement, _NoBlock())
        ranges = dict(_Provider().of(self._module, header, place.line, place.indents))
        ranges[statement] = ranges[header]
        return ranges

    def _inside(self, place: _Place, path: Sequence[cst.CSTNode]) -> _Place | None:
        """Return the statement in the block of a statement that a path from a node upwards leads through."""
        block = block_in(place.statement)
        if block is None or block not in path or _has_more(place.statement):
            return None
        at = path.index(block)
        if at == 0:
            return None
        lines = self._inner.get(place.statement)
        if lines is None:
            above, texts = inner_parts(self._module, place.statement, block, place.indents)
            lines = self._inner[place.statement] = _first_lines(block.body, texts, place.line + above)
        indent = self._module.default_indent if block.indent is None else block.indent
        return _Place(path[at - 1], lines[path[at - 1]], (*place.indents, indent))

    @cached_property
    def _first_lines(self) -> Mapping[cst.CSTNode, int]:
        header, statements, _ = parts(self._module)
        return _first_lines(self._module.body, statements, 1 + sum(map(line_ends, header)))


def _has_more(statement: cst.CSTNode) -> bool:
    """Return whether a statement has more than one block."""
    return getattr(statement, "orelse", None) is not None


def _first_lines(nodes: Sequence[cst.CSTNode], texts: Sequence[str], line: int) -> dict[cst.CSTNode, int]:
    """Return the lines on which consecutive statements begin, of which the first begins on `line`."""
    lines: dict[cst.CSTNode, int] = {}
    for node, text in zip(nodes, texts):
        lines[node] = line
        line += line_ends(text)
    return lines


def told_by(node: cst.CSTNode) -> cst.CSTNode:
    """Return the part of a node that ends the reported range: part of a compound statement's header."""
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return node.name
    if isinstance(node, (cst.While, cst.If)):
        return node.test
    if isinstance(node, cst.For):
        return node.iter
    if isinstance(node, cst.With):
        return node.items[-1]
    if isinstance(node, cst.Match):
        return node.subject
    return node
