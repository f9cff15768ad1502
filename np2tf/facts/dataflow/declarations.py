"""The names that a function itself declares `global` or `nonlocal`, without the functions inside it."""

from __future__ import annotations

import libcst as cst

from np2tf.tree.memo import memoize
from np2tf.tree.walk import children

Declaration = type[cst.Global] | type[cst.Nonlocal]
#: Nodes with statements in them; declarations of the function itself are in no others.
_BLOCKS = frozenset({
    cst.IndentedBlock, cst.SimpleStatementLine, cst.SimpleStatementSuite, cst.If, cst.Else, cst.For,
    cst.While, cst.With, cst.Try, cst.TryStar, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally,
    cst.Match, cst.MatchCase,
})  # fmt: skip


def declared_names(function: cst.FunctionDef, *kinds: Declaration) -> frozenset[str]:
    """Return the names in the function's own declarations of these kinds."""
    return frozenset(name for kind, name in _declarations(function) if kind in kinds)


@memoize
def _declarations(function: cst.CSTNode) -> list[tuple[type[cst.CSTNode], str]]:
    names: list[tuple[type[cst.CSTNode], str]] = []
    stack: list[cst.CSTNode] = [function.body]  # type: ignore[attr-defined]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind is cst.Global or kind is cst.Nonlocal:
            names += [(kind, item.name.value) for item in top.names]  # type: ignore[attr-defined]
        elif kind in _BLOCKS:
            stack.extend(children(top))
    return names
