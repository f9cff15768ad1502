"""May an index and a value be computed in the other order?

`x[i] = v` computes v, then x and i; `x = tnp.at(x)[i].set(v)` computes x and i first. Nobody can tell the
difference
unless one of them changes something that the other reads.
"""

from __future__ import annotations

from enum import IntEnum

import libcst as cst

from np2tf import rules
from np2tf.facts import Facts
from np2tf.tree.names import words
from np2tf.tree.walk import children, walk


class Effect(IntEnum):
    """What computing an expression may do, mildest first."""

    FIXED = 0
    """Constants and names that nothing else can rebind meanwhile."""
    READS = 1
    """Reads data that a call could change."""
    CALLS = 2
    """Runs code of unknown effect."""


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
    """What computing `node` may do."""
    if isinstance(node, cst.Call):
        if not _is_pure(facts, node):
            return Effect.CALLS
        inner = [effect(facts, part) for part in children(node)]
        return max([Effect.READS, *inner])
    if isinstance(node, _RUNS_CODE):
        return Effect.CALLS
    if isinstance(node, cst.Lambda) or facts.imports.qualified(node) is not None:
        return Effect.FIXED
    if isinstance(node, cst.Name):
        return _name(facts, node)
    below = max((effect(facts, child) for child in children(node)), default=Effect.FIXED)
    if isinstance(node, (cst.Attribute, cst.Subscript)):
        return max(below, Effect.READS)
    return below


def _name(facts: Facts, node: cst.Name) -> Effect:
    """A local name is fixed unless a function inside rebinds it; anything else may be rebound by a call."""
    if node.value in ("None", "True", "False"):
        return Effect.FIXED
    scope = facts.scopes.of(node)
    name = node.value
    if name not in scope.locals or scope.is_module:
        return Effect.READS
    rebound = any(name in inner.nonlocals for inner in scope.within() if inner is not scope)
    return Effect.READS if rebound else Effect.FIXED


def _is_pure(facts: Facts, call: cst.Call) -> bool:
    """Whether a call is known to change nothing that the other expression could read."""
    if any(arg.keyword is not None and arg.keyword.value == "out" for arg in call.args):
        return False
    qualified = facts.imports.qualified(call.func)
    if qualified is not None:
        rule = rules.find(qualified)
        return (
            rule is not None
            and not rule.writes
            and not rule.random
            and not rule.calls_first
            and not rule.acts
        )
    if isinstance(call.func, cst.Name):
        return (
            call.func.value in _PURE_BUILTINS and facts.scopes.of(call.func).owner_of(call.func.value) is None
        )
    if isinstance(call.func, cst.Attribute):
        # A method of this name on an object of the user's may do anything; on `self` it is the user's for
        # sure.
        on_self = isinstance(call.func.value, cst.Name) and call.func.value.value in ("self", "cls")
        return call.func.attr.value in _PURE_METHODS and not on_self
    return False


def may_swap(facts: Facts, index: list[cst.CSTNode], value: cst.CSTNode) -> bool:
    """Whether index (and base) and value may be computed in the other order."""
    first = max((effect(facts, part) for part in index), default=Effect.FIXED)
    second = effect(facts, value)
    if Effect.CALLS not in (first, second):
        return True
    if Effect.FIXED not in (first, second):
        return False
    return first is not Effect.FIXED or not _handed_over(facts, index, value)


def _handed_over(facts: Facts, index: list[cst.CSTNode], value: cst.CSTNode) -> bool:
    """Whether the index computes with a name that the value's calls are given, and so might change in
    place."""
    computed = {
        name.value
        for part in index
        for operation in walk(part)
        if isinstance(operation, (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison))
        for name in walk(operation)
        if isinstance(name, cst.Name)
    }
    return any(
        isinstance(node, cst.Name) and node.value in computed and _is_itself_given(facts, node, value)
        for node in walk(value)
    )


def _is_itself_given(facts: Facts, name: cst.Name, value: cst.CSTNode) -> bool:
    """Whether a call may get the object that a name stands for, and not only a number computed from it."""
    node: cst.CSTNode = name
    while node is not value:
        if isinstance(node, (cst.BinaryOperation, cst.Comparison, cst.Index)):
            return False
        node = facts.parents[node] or value
    return True
