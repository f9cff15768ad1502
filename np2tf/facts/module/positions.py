"""The position of each node in the text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from np2tf.facts.module.parents import Parents
from np2tf.tree.printing import inner_parts, line_ends, parts


class _Provider(PositionProvider):
    """libcst's provider without its metadata wrapper, which would copy the tree and walk it once more."""

    def of(
        self, module: cst.Module, node: cst.CSTNode, line: int = 1, indent: str = ""
    ) -> Mapping[cst.CSTNode, CodeRange]:
        """Print a node that begins on a line, and record the position of each node in it."""
        state = PositionProvidingCodegenState(
            default_indent=module.default_indent, default_newline=module.default_newline, provider=self
        )
        state.line = line
        if indent:
            state.increase_indent(indent)
        node._codegen(state)
        return self._computed  # type: ignore[return-value]


def positions(module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
    """Return the range of every node, lines from 1 and columns from 0."""
    return _Provider().of(module, module)


class Positions:
    """The ranges of the nodes of a module.

    They are found for one part at a time: a statement at the top of the module, or one in a class there.
    """

    def __init__(self, module: cst.Module, parents: Parents) -> None:
        self._module = module
        self._parents = parents
        self._ranges: dict[cst.CSTNode, CodeRange] = {}
        self._first_lines_in: dict[cst.ClassDef, dict[cst.CSTNode, int]] = {}

    def __getitem__(self, node: cst.CSTNode) -> CodeRange:
        """Return the range of a node, lines from 1 and columns from 0."""
        code_range = self._ranges.get(node)
        if code_range is None:
            self._ranges.update(self._around(node))
            code_range = self._ranges[node]
        return code_range

    def _around(self, node: cst.CSTNode) -> Mapping[cst.CSTNode, CodeRange]:
        """Return the ranges of the nodes of the part that a node is in."""
        path = [node, *self._parents.above(node)]  # from the node to the module
        if len(path) < 2:
            return _Provider().of(self._module, self._module)
        top = path[-2]
        if len(path) < 4 or type(top) is not cst.ClassDef or type(path[-3]) is not cst.IndentedBlock:
            return _Provider().of(self._module, top, self._first_lines[top])
        inner = path[-4]
        line, indent = self._inner_lines(top)[inner], path[-3].indent
        return _Provider().of(
            self._module, inner, line, self._module.default_indent if indent is None else indent
        )

    def _inner_lines(self, node: cst.ClassDef) -> Mapping[cst.CSTNode, int]:
        """Return the lines on which the texts of the statements in a class at the top begin."""
        lines = self._first_lines_in.get(node)
        if lines is None:
            above, texts = inner_parts(self._module, node)
            lines = _first_lines(node.body.body, texts, self._first_lines[node] + above)
            self._first_lines_in[node] = lines
        return lines

    @cached_property
    def _first_lines(self) -> Mapping[cst.CSTNode, int]:
        header, statements, _ = parts(self._module)
        return _first_lines(self._module.body, statements, 1 + sum(map(line_ends, header)))


def _first_lines(nodes: Sequence[cst.CSTNode], texts: Sequence[str], line: int) -> dict[cst.CSTNode, int]:
    """Return the lines on which consecutive statements begin, of which the first begins on `line`."""
    lines: dict[cst.CSTNode, int] = {}
    for node, text in zip(nodes, texts):
        lines[node] = line
        line += line_ends(text)
    return lines


def told_by(node: cst.CSTNode) -> cst.CSTNode:
    """Return the part of a node whose end also ends the reported range: for a compound statement, part of its
    header.
    """
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
