"""Names that are plain numbers wherever a function binds them: counters such as ``n = 0`` and ``n += 1``.

For any other name, ``n += 1`` may write into an array that other names refer to as well.
"""

from __future__ import annotations

import libcst as cst

from np2tf.facts.dataflow.declarations import declared_names
from np2tf.facts.dataflow.reads_writes import Names, binds_here, parameters
from np2tf.tree.walk import children, walk

_SCOPES = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def counters(function: cst.FunctionDef) -> Names:
    """Return the local names that a function binds only to number literals and changes only by adding
    them.
    """
    candidates: set[str] = set()
    other_names = {*parameters(function.params), *declared_names(function, cst.Global, cst.Nonlocal)}
    stack: list[cst.CSTNode] = [function.body]
    while stack:
        node = stack.pop()
        kind = type(node)
        name = (
            _start_target(node)
            if kind is cst.Assign
            else _step_target(node)
            if kind is cst.AugAssign
            else None
        )
        if name is not None:
            candidates.add(name)
            continue
        other_names.update(binds_here(node))
        if kind in _SCOPES:
            inner = [part for part in walk(node) if isinstance(part, (cst.Nonlocal, cst.Global))]
            other_names.update(item.name.value for part in inner for item in part.names)
        else:
            stack += children(node)
    return frozenset(candidates - other_names)


def step_of(node: cst.CSTNode) -> str | None:
    """Return ``n + 1`` for a statement ``n += 1`` whose right side is a number literal."""
    name = _step_target(node)
    if name is None or type(node) is not cst.AugAssign:
        return None
    sign = "+" if type(node.operator) is cst.AddAssign else "-"
    return f"{name} {sign} {cst.Module([]).code_for_node(node.value)}"


def _step_target(node: cst.CSTNode) -> str | None:
    if type(node) is not cst.AugAssign or type(node.operator) not in (cst.AddAssign, cst.SubtractAssign):
        return None
    number = type(node.value) in (cst.Integer, cst.Float)
    return node.target.value if number and type(node.target) is cst.Name else None


def _start_target(node: cst.CSTNode) -> str | None:
    if type(node) is not cst.Assign or len(node.targets) != 1:
        return None
    target, value = node.targets[0].target, node.value
    if type(value) is cst.UnaryOperation and type(value.operator) is cst.Minus:
        value = value.expression
    number = type(value) in (cst.Integer, cst.Float)
    return target.value if number and type(target) is cst.Name else None
