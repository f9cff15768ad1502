"""Decides whether an index and a value may be computed in the other order.

`x[i] = v` computes v, then x and i; `x = tnp.at(x)[i].set(v)` computes x and i first. The order makes no
difference unless one expression changes something that the other reads.
"""

from __future__ import annotations

from enum import IntEnum

import libcst as cst

from np2tf.core import rules
from np2tf.translator.facts.facts import Facts
from np2tf.translator.tree.nodes import children, has_keyword, walk, words


class Effect(IntEnum):
    """The effects that computing an expression may have, mildest first."""

    FIXED = 0
    """The expression consists of constants and names that no other code can rebind meanwhile."""
    READS = 1
    """The expression reads data that a call could change."""
    CALLS = 2
    """The expression runs code of unknown effect."""


_PURE_BUILTINS = words(
    """
    abs bool complex dict divmod enumerate float int isinstance len list max min pow range reversed round
    set slice
    sorted str sum tuple type zip
    """
)
_PURE_METHODS = words(
    """
    all any argmax argmin argsort astype clip conj conjugate copy cumprod cumsum diagonal dot flatten item
    max mean min
    nonzero prod ptp ravel repeat reshape round searchsorted squeeze std sum swapaxes take tolist trace
    transpose var
    view get keys values items index count lower upper strip startswith endswith
    """
)
_RUNS_CODE = (cst.Await, cst.Yield, cst.NamedExpr, cst.GeneratorExp)


def effect(facts: Facts, node: cst.CSTNode) -> Effect:
    """Return the strongest effect that computing `node` may have."""
    if type(node) is cst.Call:
        if not is_pure_call(facts, node):
            return Effect.CALLS
        inner = [effect(facts, part) for part in children(node)]
        return max([Effect.READS, *inner])
    if isinstance(node, _RUNS_CODE):
        return Effect.CALLS
    if type(node) is cst.Lambda or facts.imports.numpy_name(node) is not None:
        return Effect.FIXED
    if type(node) is cst.Name:
        return _name(facts, node)
    below = max((effect(facts, child) for child in children(node)), default=Effect.FIXED)
    if type(node) in (cst.Attribute, cst.Subscript):
        return max(below, Effect.READS)
    return below


def _name(facts: Facts, node: cst.Name) -> Effect:
    """Return the effect of reading a name.

    A local name is fixed unless an inner function rebinds it. A call may rebind any other name.
    """
    if node.value in ("None", "True", "False"):
        return Effect.FIXED
    scope = facts.scopes.of(node)
    name = node.value
    if name not in scope.locals or scope.is_module:
        return Effect.READS
    rebound = any(name in inner.nonlocals for inner in scope.within() if inner is not scope)
    return Effect.READS if rebound else Effect.FIXED


def is_pure_call(facts: Facts, call: cst.Call) -> bool:
    """Return whether a call is known to change nothing that another expression could read."""
    if has_keyword(call, "out"):
        return False
    qualified_name = facts.imports.numpy_name(call.func)
    if qualified_name is not None:
        rule = rules.find(qualified_name)
        return (
            rule is not None
            and not rule.writes
            and not rule.random
            and not rule.calls_first
            and not rule.acts
        )
    if type(call.func) is cst.Name:
        return call.func.value in _PURE_BUILTINS and facts.scopes.owner(call.func) is None
    if type(call.func) is cst.Attribute:
        # A method of this name on a user's object may do anything; on `self` it certainly is the user's.
        on_self = type(call.func.value) is cst.Name and call.func.value.value in ("self", "cls")
        return call.func.attr.value in _PURE_METHODS and not on_self
    return False


def may_swap(facts: Facts, index: list[cst.CSTNode], value: cst.CSTNode) -> bool:
    """Return whether the index (with the base) and the value may be computed in the other order."""
    first = max((effect(facts, part) for part in index), default=Effect.FIXED)
    second = effect(facts, value)
    if Effect.CALLS not in (first, second):
        return True
    if Effect.FIXED not in (first, second):
        return False
    return first is not Effect.FIXED or not _handed_over(facts, index, value)


def _handed_over(facts: Facts, index: list[cst.CSTNode], value: cst.CSTNode) -> bool:
    """Return whether the index computes with a name that calls in the value may change in place."""
    names = {
        name.value
        for part in index
        for operation in walk(part)
        if type(operation) in (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison)
        for name in walk(operation)
        if type(name) is cst.Name
    }
    return any(
        type(node) is cst.Name and node.value in names and _is_itself_given(facts, node, value)
        for node in walk(value)
    )


def _is_itself_given(facts: Facts, name: cst.Name, value: cst.CSTNode) -> bool:
    """Return whether a call may receive a name's object, and not only a number computed from it."""
    node: cst.CSTNode = name
    while node is not value:
        if type(node) in (cst.BinaryOperation, cst.Comparison, cst.Index):
            return False
        node = facts.parents[node] or value
    return True
