"""The position of each node in the text."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider


class _Positions(PositionProvider):
    """libcst's provider without its metadata wrapper, which would copy the tree and walk it once more."""

    def of(self, module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        """Print the module, and record the position of each node in the text."""
        self._gen_impl(module)
        return self._computed  # type: ignore[return-value]


def positions(module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
    """Return the range of every node, lines from 1 and columns from 0."""
    return _Positions().of(module)


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
