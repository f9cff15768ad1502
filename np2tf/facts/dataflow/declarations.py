"""The names that a function itself declares `global` or `nonlocal`, without the functions inside it."""

from __future__ import annotations

import libcst as cst

from np2tf.tree.walk import children

_SCOPES = frozenset({cst.FunctionDef, cst.Lambda, cst.ClassDef})
Declaration = type[cst.Global] | type[cst.Nonlocal]


def declared_names(function: cst.FunctionDef, *kinds: Declaration) -> frozenset[str]:
    """Return the names in the function's own declarations of these kinds."""
    names: set[str] = set()
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        top = stack.pop()
        kind = type(top)
        if kind in kinds:
            names.update(item.name.value for item in top.names)  # type: ignore[attr-defined]
        elif kind not in _SCOPES:
            stack.extend(children(top))
    return frozenset(names)
