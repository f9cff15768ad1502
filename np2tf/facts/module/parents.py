"""The parent of every node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, cast

import libcst as cst

Node = TypeVar("Node", bound=cst.CSTNode)


class Parents:
    """Maps each node to its parent node."""

    def __init__(self, nodes: Sequence[cst.CSTNode], parents: Sequence[int]) -> None:
        """Use the nodes of a tree, and the number of each node's parent among them, as `arrange` returns
        them.
        """
        self._above = {node: nodes[parent] for node, parent in zip(nodes, parents) if parent >= 0}

    def __getitem__(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the parent, or None for the module."""
        return self._above.get(node)

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around `node`, from the inside out."""
        up = self._above.get(node)
        while up is not None:
            yield up
            up = self._above.get(up)

    def nearest(self, node: cst.CSTNode, *kinds: type[Node]) -> Node | None:
        """Return the innermost node of exactly one of these classes around `node` (not `node` itself)."""
        return next((cast(Node, up) for up in self.above(node) if type(up) in kinds), None)
