"""What a function certainly calls and reads: the expressions that every call of it evaluates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.flow import block
from np2tf.tree.walk import children, walk

#: What runs at other times, if at all: inner definitions where they are called, handlers on the host alone.
_LATER = (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.ExceptHandler, cst.ExceptStarHandler)


def certain(function: cst.FunctionDef, facts: Facts) -> Iterator[cst.CSTNode]:
    """The nodes of a function that no test keeps from being evaluated; a loop is taken to have rounds.

    What stands behind a `return` under a test is not certain. The bodies of inner functions are, where a
    certain call is of one.
    """
    seen: set[cst.CSTNode] = {function}
    pending: list[cst.CSTNode] = [function.body]
    while pending:
        for node in _certain(pending.pop()):
            yield node
            if isinstance(node, cst.Call) and isinstance(node.func, cst.Name):
                inner = _inner(node.func, facts)
                if inner is not None and inner not in seen:
                    seen.add(inner)
                    pending.append(inner.body)


def _certain(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    yield node
    parts: Iterable[cst.CSTNode] = children(node)
    if isinstance(node, (*_LATER, cst.Raise)):
        return
    if isinstance(node, (cst.If, cst.IfExp, cst.Assert)):
        parts = [node.test]
    elif isinstance(node, cst.BooleanOperation):
        parts = [node.left]
    elif isinstance(node, cst.Match):
        parts = [node.subject]
    elif isinstance(node, (cst.IndentedBlock, cst.SimpleStatementSuite)):
        parts = _until_a_return(node)
    for part in parts:
        yield from _certain(part)


def _until_a_return(body: cst.BaseSuite) -> Iterator[cst.CSTNode]:
    """The statements of a block up to the first that may leave the function."""
    for statement in block(body):
        yield statement
        if not isinstance(statement, _LATER) and any(
            isinstance(part, cst.Return) for part in walk(statement)
        ):
            return


def _inner(name: cst.Name, facts: Facts) -> cst.FunctionDef | cst.Lambda | None:
    """The inner function that a name of a function is."""
    owner = facts.scopes.of(name).owner_of(name.value)
    if owner is None or owner.is_module or len(owner.bindings[name.value]) != 1:
        return None
    binding = owner.bindings[name.value][0]
    if isinstance(binding, cst.FunctionDef):
        return binding
    target = facts.parents[binding]
    assign = facts.parents[target] if isinstance(target, cst.AssignTarget) else None
    return assign.value if isinstance(assign, cst.Assign) and isinstance(assign.value, cst.Lambda) else None
