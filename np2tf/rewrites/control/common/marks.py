"""The nodes to lower, which are tracked while the tree is edited, and the exception that refuses a
lowering.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst


class CannotLower(Exception):
    """Raised for a construct that cannot be lowered with its meaning kept: code, place and the words of the
    message.
    """

    def __init__(self, code: str, node: cst.CSTNode, **args: str) -> None:
        super().__init__(code)
        self.code, self.node, self.words = code, node, args
        self.loop: cst.For | None = None
        """The innermost lowered `for` around the node, which may stay a Python loop instead."""


@dataclass
class Marks:
    """The `if`, `while`, `for` and `assert` nodes to lower, and the flags that stop lowered `for` loops."""

    lowered_nodes: set[cst.CSTNode] = field(default_factory=set)
    stops: dict[cst.CSTNode, str] = field(default_factory=dict)

    independent: set[cst.CSTNode] = field(default_factory=set)
    """The `for` loops whose iterations were found to be independent of each other."""

    origin: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    """Maps a node that replaced another node to the original node."""

    def copy(self) -> Marks:
        """Return a copy of the marks for a trial lowering."""
        return Marks(set(self.lowered_nodes))

    def __contains__(self, node: cst.CSTNode) -> bool:
        return node in self.lowered_nodes

    def carry(self, old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        """Return `new`, which from now on has the marks of `old`."""
        if old is new:
            return new
        self.origin[new] = self.origin.get(old, old)
        if old in self.lowered_nodes:
            self.lowered_nodes.add(new)
        if old in self.stops:
            self.stops[new] = self.stops[old]
        return new
