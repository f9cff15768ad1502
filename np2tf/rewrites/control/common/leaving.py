"""The ways in which control leaves a part of the code: its jumps, and whether control can reach its end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import libcst as cst

from np2tf.facts.dataflow.binding import bound_after
from np2tf.facts.dataflow.reads_writes import block
from np2tf.tree.templates import Statement
from np2tf.tree.walk import children

LOOPS = (cst.For, cst.While)
_SCOPES = (cst.FunctionDef, cst.ClassDef, cst.Lambda)


def jumps_in(nodes: Sequence[cst.CSTNode], in_loop: bool = False) -> Iterator[cst.CSTNode]:
    """Yield the jumps that leave `nodes`: every return, and each break and continue of an outer loop."""
    for node in nodes:
        kind = type(node)
        if kind is cst.Return:
            yield node
        elif kind is cst.Break or kind is cst.Continue:
            if not in_loop:
                yield node
        elif kind in LOOPS:
            yield from jumps_in(block(node.body), True)  # type: ignore[attr-defined]
            yield from jumps_in(block(node.orelse), in_loop)  # type: ignore[attr-defined]
        elif not _holds_no_jump(kind):
            yield from jumps_in(children(node), in_loop)


@cache
def _holds_no_jump(kind: type[cst.CSTNode]) -> bool:
    """Return whether no jump inside nodes of this class leaves them. Cached by class: the test is slow."""
    return issubclass(kind, (*_SCOPES, cst.BaseExpression))


def reachable(body: Sequence[Statement]) -> list[Statement]:
    """Return `body` up to the first statement that control cannot pass."""
    for index, statement in enumerate(body):
        if leaves([statement]):
            return list(body[: index + 1])
    return list(body)


def leaves(body: Sequence[cst.CSTNode]) -> bool:
    """Return whether every path through `body` ends in a jump (or a raise)."""
    return bound_after(body, frozenset()) is None


def jump_of(statement: cst.CSTNode) -> cst.CSTNode | None:
    if type(statement) is cst.SimpleStatementLine and len(statement.body) == 1:
        only = statement.body[0]
        return only if type(only) in (cst.Break, cst.Continue, cst.Return) else None
    return None


def returns_like(behind: Sequence[Statement], body: Sequence[Statement]) -> bool:
    """Return whether a loop only returns the expression that the function returns right behind it.

    The return inside the loop then becomes a `break`.
    """
    next_jump = jump_of(behind[0]) if behind else None
    returns = [jump for jump in jumps_in(body) if type(jump) is cst.Return]
    if type(next_jump) is not cst.Return or not returns:
        return False
    return all(jump.deep_equals(next_jump) for jump in returns)
