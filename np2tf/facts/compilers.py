"""Functions and classes that another compiler reads, by its decorators. The translator leaves them
unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from np2tf.tree.names import dotted_name
from np2tf.tree.walk import walk

_COMPILERS = frozenset({"cupyx", "numba", "pythran", "taichi", "transonic", "triton", "warp"})
#: Decorators of numba that packages re-export from modules of their own, with a fallback if numba is missing.
_DECORATORS = frozenset({"cfunc", "guvectorize", "jitclass", "njit"})


def read_by_compilers(module: cst.Module) -> frozenset[cst.CSTNode]:
    """Return every node of the functions and classes that are given to a compiler of Python."""
    nodes = list(walk(module))
    compiler_names = {name for node in nodes if type(node) in _IMPORTS for name in _names(node)}
    names = (node for node in nodes if type(node) is cst.Name)
    if not compiler_names and not any(name.value in _DECORATORS for name in names):  # type: ignore[attr-defined]
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
            node.name.value in argument_names
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
            yield (alias.evaluated_alias or alias.evaluated_name).split(".")[0]


def _is_compiler(name: cst.BaseExpression | None) -> bool:
    return name is not None and (dotted_name(name) or "").split(".")[0] in _COMPILERS


def _names_of(node: cst.BaseExpression) -> list[str]:
    """Return the parts of a dotted decorator, such as `nb` and `njit` of `nb.njit` and
    `nb.njit(cache=True)`.
    """
    while type(node) is cst.Call:
        node = node.func
    return (dotted_name(node) or "").split(".")
