"""Code that another compiler reads: functions and classes under numba's decorators stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from np2tf.tree.names import dotted
from np2tf.tree.walk import walk

_COMPILERS = frozenset({"numba"})


def read_by_compilers(module: cst.Module) -> frozenset[cst.CSTNode]:
    """Every node of the functions and classes that are given to a compiler of Python."""
    nodes = list(walk(module))
    ours = {name for node in nodes for name in _names(node)}
    if not ours:
        return frozenset()
    given = {
        arg.value.value
        for node in nodes
        if isinstance(node, cst.Call) and _root(node.func) in ours
        for arg in node.args
        if isinstance(arg.value, cst.Name)
    }
    return frozenset(
        inside
        for node in nodes
        if isinstance(node, (cst.FunctionDef, cst.ClassDef))
        and (node.name.value in given or any(_root(one.decorator) in ours for one in node.decorators))
        for inside in walk(node)
    )


def _names(node: cst.CSTNode) -> Iterator[str]:
    """The names by which a statement imports a compiler or a part of it."""
    names: Sequence[cst.ImportAlias] | cst.ImportStar = ()
    if isinstance(node, cst.ImportFrom) and not node.relative and _is_compiler(node.module):
        names = node.names
    elif isinstance(node, cst.Import):
        names = [alias for alias in node.names if _is_compiler(alias.name)]
    if not isinstance(names, cst.ImportStar):
        for alias in names:
            yield (alias.evaluated_alias or alias.evaluated_name).split(".")[0]


def _is_compiler(name: cst.BaseExpression | None) -> bool:
    return name is not None and (dotted(name) or "").split(".")[0] in _COMPILERS


def _root(node: cst.BaseExpression) -> str | None:
    """`nb` of `nb.njit`, `nb.vectorize([…])`, `nb.cuda.jit(…)`."""
    while isinstance(node, (cst.Attribute, cst.Call)):
        node = node.value if isinstance(node, cst.Attribute) else node.func
    return node.value if isinstance(node, cst.Name) else None
