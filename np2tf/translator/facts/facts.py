"""The facts about one module, and the parts of it that another compiler reads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, TypeVar, cast

import libcst as cst
from libcst.metadata import CodeRange

from np2tf.translator.facts.kinds import Kinds
from np2tf.translator.facts.numpy_imports import Imports
from np2tf.translator.facts.positions import Positions, told_by
from np2tf.translator.facts.scopes import Instances, Scopes
from np2tf.translator.facts.switched_off import is_switched_off
from np2tf.translator.sources.names_between_files import Reexport
from np2tf.translator.tree.nodes import Parents, arrange, bound_name, dotted_name, walk

# -- compilers -----------------------------------------------------------------------------------------------
# Functions and classes that another compiler reads, by its decorators. The translator leaves them
# unchanged.

_COMPILERS = frozenset({"cupyx", "numba", "pythran", "taichi", "transonic", "triton", "warp"})
#: Decorators of numba that packages re-export from modules of their own, with a fallback if numba is missing.
_DECORATORS = frozenset({"cfunc", "guvectorize", "jitclass", "njit"})


def read_by_compilers(module: cst.Module) -> frozenset[cst.CSTNode]:
    """Return every node of the functions and classes that are given to a compiler of Python, or stay as they
    are because a comment says so.
    """
    nodes = list(walk(module))
    compiler_names = {name for node in nodes if type(node) in _IMPORTS for name in _names(node)}
    names = (node for node in nodes if type(node) is cst.Name)
    off = {node for node in nodes if is_switched_off(node)}
    if not (off or compiler_names or any(name.value in _DECORATORS for name in names)):  # type: ignore[attr-defined]
        return frozenset()

    def compiles(node: cst.BaseExpression) -> bool:
        names = _names_of(node)
        return bool(names) and (names[0] in compiler_names or names[-1] in _DECORATORS)

    argument_names = {
        arg.value.value
        for node in nodes
        if isinstance(node, cst.Call) and compiles(node.func)
        for arg in node.args
        if isinstance(arg.value, cst.Name)
    }
    return frozenset(
        inside
        for node in nodes
        if isinstance(node, (cst.FunctionDef, cst.ClassDef))
        and (
            node in off
            or node.name.value in argument_names
            or any(compiles(decorator.decorator) for decorator in node.decorators)
        )
        for inside in walk(node)
    )


_IMPORTS = frozenset({cst.ImportFrom, cst.Import})


def _names(node: cst.CSTNode) -> Iterator[str]:
    """The names by which a statement imports a compiler or a part of it."""
    if type(node) not in _IMPORTS:
        return
    names: Sequence[cst.ImportAlias] | cst.ImportStar = ()
    if isinstance(node, cst.ImportFrom) and not node.relative and _is_compiler(node.module):
        names = node.names
    elif isinstance(node, cst.Import):
        names = [alias for alias in node.names if _is_compiler(alias.name)]
    if not isinstance(names, cst.ImportStar):
        for alias in names:
            yield bound_name(alias)


def _is_compiler(name: cst.BaseExpression | None) -> bool:
    return name is not None and (dotted_name(name) or "").split(".")[0] in _COMPILERS


def _names_of(node: cst.BaseExpression) -> list[str]:
    """Return the parts of a dotted decorator, such as `nb` and `njit` of `nb.njit(cache=True)`."""
    while type(node) is cst.Call:
        node = node.func
    return (dotted_name(node) or "").split(".")


# -- facts ---------------------------------------------------------------------------------------------------
# Read-only analyses of one module, computed once.
# Nothing here edits a tree or adds a diagnostic.

Node = TypeVar("Node", bound=cst.CSTNode)
_Result = TypeVar("_Result")


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
    leaves_foreign: bool = False
    """Whether functions that use other libraries' values stay as they are (`foreign_values`)."""
    _results: dict[Hashable, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        module: cst.Module,
        path: str = "",
        reexports: Sequence[Reexport] = (),
        *,
        leaves_foreign: bool = False,
    ) -> Facts:
        """Analyse a module; `reexports` are the names of NumPy that it imports from other files."""
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
        return cls(module, parents, scopes, imports, *fields, leaves_foreign=leaves_foreign)

    def nodes(self, kind: type[Node]) -> list[Node]:
        """Return every node of exactly this class, in source order."""
        return cast("list[Node]", self._by_class.get(kind, []))

    def get(self, kind: Callable[..., _Result], *key: Hashable) -> _Result:
        """Return `kind(facts, *key)`: further facts about the module, which are worked out once."""
        place = (kind, *key)
        if place not in self._results:
            self._results[place] = kind(self, *key)
        result: _Result = self._results[place]
        return result

    def position(self, node: cst.CSTNode) -> tuple[int, int]:
        """Return the line and the column of a node, both from 1.

        A call computes the positions of a whole statement, so only diagnostics call this method.
        """
        start = self._range(node).start
        return start.line, start.column + 1

    def place(self, node: cst.CSTNode) -> tuple[int, int, tuple[int, int]]:
        """Return where a node begins, and (line, column) where its name or header ends, for diagnostics."""
        end = self._range(told_by(node)).end
        return *self.position(node), (end.line, end.column + 1)

    def _range(self, node: cst.CSTNode) -> CodeRange:
        return self._positions[node]

    def code(self, node: cst.CSTNode) -> str:
        """Return the source of a node on one line, for messages."""
        return " ".join(self.module.code_for_node(node).split())
