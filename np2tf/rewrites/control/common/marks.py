"""What is to be lowered, carried along while the tree is edited, and the refusal to do so."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst


class CannotLower(Exception):
    """A construct that cannot be lowered with its meaning kept: code, place and the words of the message."""

    def __init__(self, code: str, node: cst.CSTNode, **args: str) -> None:
        super().__init__(code)
        self.code, self.node, self.words = code, node, args
        self.loop: cst.For | None = None
        """The innermost lowered `for` around the node, which may stay Python instead."""


@dataclass
class Marks:
    """The `if`, `while`, `for` and `assert` nodes to lower, and the flags that stop lowered `for` loops."""

    lowered: set[cst.CSTNode] = field(default_factory=set)
    stops: dict[cst.CSTNode, str] = field(default_factory=dict)

    independent: set[cst.CSTNode] = field(default_factory=set)
    """The `for` loops found to have rounds that do not need one another."""

    origin: dict[cst.CSTNode, cst.CSTNode] = field(default_factory=dict)
    """For a node that took another's place: the first one."""

    def copy(self) -> Marks:
        """Marks to try with."""
        return Marks(set(self.lowered))

    def __contains__(self, node: cst.CSTNode) -> bool:
        return node in self.lowered

    def carry(self, old: cst.CSTNode, new: cst.CSTNode) -> cst.CSTNode:
        """`new`, to be treated as `old` was."""
        if old is new:
            return new
        self.origin[new] = self.origin.get(old, old)
        if old in self.lowered:
            self.lowered.add(new)
        if old in self.stops:
            self.stops[new] = self.stops[old]
        return new
