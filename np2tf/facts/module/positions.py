"""The position of each node in the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from np2tf.facts.module.parents import Parents
from np2tf.tree.printing import parts

_LINE_END = re.compile(r"\r\n?|\n")


class _Provider(PositionProvider):
    """libcst's provider without its metadata wrapper, which would copy the tree and walk it once more."""

    def of(self, module: cst.Module, node: cst.CSTNode, line: int = 1) -> Mapping[cst.CSTNode, CodeRange]:
        """Print a node that begins on a line, and record the position of each node in it."""
        state = PositionProvidingCodegenState(
            default_indent=module.default_indent, default_newline=module.default_newline, provider=self
        )
        state.line = line
        node._codegen(state)
        return self._computed  # type: ignore[return-value]


def positions(module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
    """Return the range of every node, lines from 1 and columns from 0."""
    return _Provider().of(module, module)


class Positions:
    """The ranges of the nodes of a module, found for one statement at its top at a time."""

    def __init__(self, module: cst.Module, parents: Parents) -> None:
        self._module = module
        self._parents = parents
        self._ranges: dict[cst.CSTNode, CodeRange] = {}

    def __getitem__(self, node: cst.CSTNode) -> CodeRange:
        """Return the range of a node, lines from 1 and columns from 0."""
        code_range = self._ranges.get(node)
        if code_range is None:
            top = self._top(node)
            self._ranges.update(_Provider().of(self._module, top, self._first_line(top)))
            code_range = self._ranges[node]
        return code_range

    def _top(self, node: cst.CSTNode) -> cst.CSTNode:
        """Return the statement at the top of the module that a node is in; else the module."""
        top = node
        for above in self._parents.above(node):
            if above is self._module:
                return top
            top = above
        return self._module

    def _first_line(self, top: cst.CSTNode) -> int:
        """Return the line on which the text of a top statement begins."""
        return 1 if top is self._module else self._first_lines[top]

    @cached_property
    def _first_lines(self) -> dict[cst.CSTNode, int]:
        header, statements, _ = parts(self._module)
        line = 1 + sum(len(_LINE_END.findall(text)) for text in header)
        first_lines: dict[cst.CSTNode, int] = {}
        for statement, text in zip(self._module.body, statements):
            first_lines[statement] = line
            line += len(_LINE_END.findall(text))
        return first_lines


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
