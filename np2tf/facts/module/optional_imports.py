"""Names of NumPy that are None where NumPy cannot be imported: `np = None` in the handler of an import."""

from __future__ import annotations

import libcst as cst

from np2tf.facts.module.parents import Parents


def binds_nothing(binding: cst.CSTNode, parents: Parents) -> bool:
    """Return whether a binding is `np = None`, or declares the type of a name without a value."""
    up = parents[binding]
    if type(up) is cst.AnnAssign:
        return up.value is None or _is_none(up.value)
    assign = parents[up] if type(up) is cst.AssignTarget else None
    return type(assign) is cst.Assign and _is_none(assign.value)


def assigned_name(binding: cst.CSTNode, parents: Parents) -> cst.Name | None:
    """Return the name on the right of a binding of the form `np = numpy`."""
    up = parents[binding]
    assign = parents[up] if type(up) is cst.AssignTarget else None
    return assign.value if type(assign) is cst.Assign and type(assign.value) is cst.Name else None


def asks_for_none(use: cst.Name, parents: Parents) -> bool:
    """Return whether a use only asks if the name is None: `if np`, `np is None`, `np and …`, `bool(np)`."""
    node: cst.CSTNode = use
    up = parents[use]
    if type(up) is cst.Comparison:
        return up.left is node and len(up.comparisons) == 1 and _is_none(up.comparisons[0].comparator)
    if type(up) is cst.Arg:
        call = parents[up]
        return type(call) is cst.Call and type(call.func) is cst.Name and call.func.value == "bool"
    while type(up) is cst.BooleanOperation:
        if type(up.operator) is cst.And and up.left is node:
            return True
        node, up = up, parents[up]
    if type(up) is cst.UnaryOperation:
        return type(up.operator) is cst.Not
    return type(up) in (cst.If, cst.IfExp, cst.While, cst.Assert) and up.test is node  # type: ignore[union-attr]


def _is_none(node: cst.CSTNode) -> bool:
    return type(node) is cst.Name and node.value == "None"
