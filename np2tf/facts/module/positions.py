"""Where each node stands in the text."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider


class _Positions(PositionProvider):
    """libcst's provider, without the wrapper around it: that walks the tree once more and copies it."""

    def of(self, module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        """Print the module, and note where each node was printed."""
        self._gen_impl(module)
        return self._computed  # type: ignore[return-value]


def positions(module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
    """The range of every node, lines from 1 and columns from 0."""
    return _Positions().of(module)


def told_by(node: cst.CSTNode) -> cst.CSTNode:
    """The part of a node at whose end a reader knows what is meant: in the header of what has a block."""
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
