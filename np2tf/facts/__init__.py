"""Read-only analyses of one module, computed once.

May import its own folders, `tree` and the floor. Nothing here edits a tree or adds a diagnostic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar, cast

import libcst as cst
from libcst.metadata import CodeRange

from np2tf.facts.compilers import read_by_compilers
from np2tf.facts.module.imports import Imports
from np2tf.facts.module.instances import Instances
from np2tf.facts.module.kinds import Kind, Kinds
from np2tf.facts.module.parents import Parents
from np2tf.facts.module.positions import Positions, told_by
from np2tf.facts.module.scopes import Scope, Scopes
from np2tf.linking.reexports import Reexport
from np2tf.tree.walk import arrange

__all__ = ["Facts", "Imports", "Instances", "Kind", "Kinds", "Parents", "Scope", "Scopes"]


Node = TypeVar("Node", bound=cst.CSTNode)


@dataclass(eq=False)
class Facts:
    """The facts about one module that the rewrites may use."""

    module: cst.Module
    parents: Parents
    scopes: Scopes
    imports: Imports
    kinds: Kinds
    instances: Instances
    compiler_nodes: frozenset[cst.CSTNode]
    """Nodes that another compiler reads. The rewrites leave them unchanged."""
    folders: frozenset[str]
    """The names of the folders that the file is in. An import from one of these folders belongs to the same
    program.
    """
    _by_class: dict[type[cst.CSTNode], list[cst.CSTNode]]
    _positions: Positions

    @classmethod
    def of(cls, module: cst.Module, path: str = "", reexports: Sequence[Reexport] = ()) -> Facts:
        """Analyse a module.

        Args:
            module: the tree of the module.
            path: the path of its file, if it is a file.
            reexports: the names of NumPy that it imports from other files.
        """
        nodes, numbers = arrange(module)
        by_class: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
        for node in nodes:
            by_class.setdefault(type(node), []).append(node)
        parents = Parents(nodes, numbers)
        scopes = Scopes(module)
        imports = Imports.of(module, scopes, parents, reexports)
        attributes = cast("list[cst.Attribute]", by_class.get(cst.Attribute, []))
        instances = Instances(attributes, scopes, parents)
        kinds, compiler_nodes = Kinds(scopes, imports, parents), read_by_compilers(module)
        folders = frozenset(PurePath(path).parts[:-1])
        fields = (kinds, instances, compiler_nodes, folders, by_class, Positions(module, parents))
        return cls(module, parents, scopes, imports, *fields)

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Return every node of exactly this class, in source order."""
        return cast("list[Node]", self._by_class.get(kind, []))

    def fresh_name(self, where: cst.CSTNode, wanted_name: str) -> str:
        """Return an unused name for a def, lambda or module `where`: `wanted_name`, or this with a number."""
        return self.scopes.fresh_name(where, wanted_name)

    def position(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the line and the column of a node, both from 1.

        A call computes the positions of a whole statement, so only diagnostics call this method.
        """
        start = self._range(node).start
        return start.line, start.column + 1

    def place(self, node: cst.CSTNode) -> tuple[int, int, tuple[int, int]]:
        """Return the line and the column where a node begins, and the (line, column) where its telling part
        ends.

        The telling part is the name of a function, the header of a loop. A diagnostic stores these positions.
        """
        end = self._range(told_by(node)).end
        return *self.position(node), (end.line, end.column + 1)

    def _range(self, node: cst.CSTNode) -> CodeRange:
        return self._positions[node]

    def code(self, node: cst.CSTNode) -> str:
        """Return the source of a node on one line, for messages."""
        return " ".join(self.module.code_for_node(node).split())
