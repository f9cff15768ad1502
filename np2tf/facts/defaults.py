"""Mutable defaults of parameters: those that a function does more with than to read them."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.facts import Facts, Kind
from np2tf.tree.names import words
from np2tf.tree.walk import walk

#: Methods that read a container or a text, and change nothing.
READS = words(
    """
    items keys values get index count join split strip lower upper startswith endswith replace format
    """
)
#: Builtins that only go through what they are given.
_GOING_THROUGH = words("len enumerate zip sum max min sorted any all")
_READING = (cst.Comparison, cst.ComparisonTarget, cst.CompFor, cst.If, cst.For)


def mutable_defaults(function: cst.FunctionDef, facts: Facts) -> Iterator[cst.BaseExpression]:
    """The defaults that all calls share, and one may change, keep or hand on."""
    params = function.params
    for param in (*params.posonly_params, *params.params, *params.kwonly_params):
        default = param.default
        if default is None or isinstance(default, cst.Tuple):
            continue
        if facts.kinds.kind(default) is Kind.CONTAINER and not _is_only_read(
            param.name.value, function, facts
        ):
            yield default


def _is_only_read(name: str, function: cst.FunctionDef, facts: Facts) -> bool:
    """Whether a parameter is used for what it holds alone, and neither changed, kept nor handed on."""
    uses = (node for node in walk(function.body) if isinstance(node, cst.Name) and node.value == name)
    return all(_reads(node, facts) for node in uses)


def _reads(node: cst.Name, facts: Facts) -> bool:
    up = facts.parents[node]
    if isinstance(up, cst.Attribute) and up.value is node:
        return up.attr.value in READS
    if isinstance(up, cst.Subscript) and up.value is node:
        return not isinstance(facts.parents[up], (cst.AssignTarget, cst.AugAssign, cst.Del))
    if isinstance(up, cst.Arg):
        call = facts.parents[up]
        func = call.func if isinstance(call, cst.Call) else None
        return bool(up.star) or (isinstance(func, cst.Name) and func.value in _GOING_THROUGH)
    return isinstance(up, _READING)
