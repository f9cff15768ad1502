"""Read-only analyses of one module, computed once."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from np2tf.facts.imports import Imports
from np2tf.facts.kinds import Kind, Kinds
from np2tf.facts.parents import Parents
from np2tf.facts.scopes import Scope, Scopes

__all__ = ["Facts", "Imports", "Kind", "Kinds", "Parents", "Scope", "Scopes"]


@dataclass(eq=False)
class Facts:
    """Everything the rewrites may know of a module."""

    module: cst.Module
    parents: Parents
    scopes: Scopes
    imports: Imports
    kinds: Kinds
    _positions: dict[cst.CSTNode, CodeRange] = field(default_factory=dict)

    @classmethod
    def of(cls, module: cst.Module) -> Facts:
        """Analyse a module."""
        parents = Parents(module)
        scopes = Scopes(module)
        imports = Imports.of(module, scopes, parents)
        return cls(module, parents, scopes, imports, Kinds(scopes, imports, parents))

    def fresh_name(self, where: cst.CSTNode, wanted: str) -> str:
        """A name for the def, lambda or module `where` that nobody uses: `wanted`, or `wanted_2`, …"""
        return self.scopes.fresh_name(where, wanted)

    def position(self, node: cst.CSTNode) -> tuple[int, int]:
        """Line and column of a node, both from 1. Only diagnostics need them, so they are computed when first asked."""
        if not self._positions:
            # The tree comes from the parser, so no node stands in two places and no copy is needed.
            wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
            self._positions = dict(wrapper.resolve(PositionProvider))  # type: ignore[arg-type]
        start = self._positions[node].start
        return start.line, start.column + 1

    def code(self, node: cst.CSTNode) -> str:
        """The source of a node on one line, for messages."""
        return " ".join(self.module.code_for_node(node).split())
