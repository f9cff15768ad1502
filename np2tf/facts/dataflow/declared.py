"""The names that a function itself declares `global` or `nonlocal`, without the functions inside it."""

from __future__ import annotations

import libcst as cst

from np2tf.tree.walk import children

Declaration = type[cst.Global] | type[cst.Nonlocal]


def declared_names(function: cst.FunctionDef, *kinds: Declaration) -> frozenset[str]:
    """Return the names in the function's own declarations of these kinds."""
    found: set[str] = set()
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        top = stack.pop()
        if isinstance(top, (cst.Global, cst.Nonlocal)) and isinstance(top, kinds):
            found.update(item.name.value for item in top.names)
        elif not isinstance(top, (cst.FunctionDef, cst.Lambda, cst.ClassDef)):
            stack.extend(children(top))
    return frozenset(found)
