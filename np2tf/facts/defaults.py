"""Mutable defaults of parameters that a function may change, keep or pass on."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.facts import Facts, Kind
from np2tf.tree.names import words
from np2tf.tree.walk import walk

#: Methods that read a container or a string without changing it.
READS = words(
    """
    items keys values get index count join split strip lower upper startswith endswith replace format
    """
)
#: Builtins that only iterate over their argument.
_GOING_THROUGH = words("len enumerate zip sum max min sorted any all")
_READ_CONTEXTS = (cst.Comparison, cst.ComparisonTarget, cst.CompFor, cst.If, cst.For)


def mutable_defaults(function: cst.FunctionDef, facts: Facts) -> Iterator[cst.BaseExpression]:
    """Yield the mutable default values that a call may change, keep or pass on. All calls share these
    values.
    """
    params = function.params
    for param in (*params.posonly_params, *params.params, *params.kwonly_params):
        default = param.default
        if default is None or type(default) is cst.Tuple:
            continue
        if facts.kinds.kind(default) is Kind.CONTAINER and not _is_only_read(
            param.name.value, function, facts
        ):
            yield default


def _is_only_read(name: str, function: cst.FunctionDef, facts: Facts) -> bool:
    """Return whether the function only reads the contents of a parameter, and neither changes, keeps nor
    passes it on.
    """
    uses = (node for node in walk(function.body) if type(node) is cst.Name and node.value == name)
    return all(_reads(node, facts) for node in uses)


def _reads(node: cst.Name, facts: Facts) -> bool:
    up = facts.parents[node]
    if type(up) is cst.Attribute and up.value is node:
        return up.attr.value in READS
    if type(up) is cst.Subscript and up.value is node:
        return type(facts.parents[up]) not in (cst.AssignTarget, cst.AugAssign, cst.Del)
    if type(up) is cst.Arg:
        call = facts.parents[up]
        func = call.func if type(call) is cst.Call else None
        return bool(up.star) or (type(func) is cst.Name and func.value in _GOING_THROUGH)
    return isinstance(up, _READ_CONTEXTS)
