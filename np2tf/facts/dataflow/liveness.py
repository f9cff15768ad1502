"""Liveness: the names whose values are still needed at a statement, within one function."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from np2tf.facts.dataflow.reads_writes import (
    NO_NAMES,
    Names,
    assigned_first,
    block,
    bound_targets,
    reads,
    target_reads,
    union_of,
    writes,
)
from np2tf.tree.memo import memoize
from np2tf.tree.names import target_names


@dataclass(frozen=True)
class Jumps:
    """The names that are live at the targets of `break` and `continue`."""

    at_break: Names = NO_NAMES
    at_continue: Names = NO_NAMES


def live_before(statements: Sequence[cst.CSTNode], after: Names, jumps: Jumps = Jumps()) -> Names:
    """Return the names whose value is still needed before `statements`, when `after` is needed behind
    them.
    """
    live = after
    for statement in reversed(statements):
        live = _live_in(statement, live, jumps)
    return live


#: The most usual statements without blocks.
_SMALL = frozenset({cst.Assign, cst.AugAssign, cst.Expr, cst.Return, cst.Raise})


def _live_in(node: cst.CSTNode, after: Names, jumps: Jumps) -> Names:
    if type(node) is cst.SimpleStatementLine:
        return live_before(node.body, after, jumps)
    if type(node) in _SMALL:
        return _live_small(node, after, jumps)
    if isinstance(node, cst.If):
        branches = live_before(block(node.body), after, jumps) | live_before(block(node.orelse), after, jumps)
        return (branches | reads(node.test)) - assigned_first(node.test)
    if isinstance(node, (cst.While, cst.For)):
        return _live_loop(node, after, jumps)
    if isinstance(node, (cst.Try, cst.TryStar)):
        live_names = live_when_left(node, after, jumps)
        behind = live_before(block(node.finalbody), after, jumps)
        # The handlers may be entered from anywhere in the body, its `else` only from its end.
        at_end = live_names | live_before(block(node.orelse), behind, jumps)
        return live_names | live_before(block(node.body), at_end, jumps)
    if isinstance(node, cst.With):
        live = live_before(block(node.body), after, jumps)
        for item in reversed(node.items):
            target = item.asname.name if item.asname is not None else None
            targets = NO_NAMES if target is None else frozenset(name.value for name in target_names(target))
            live = (live - targets) | (reads(target) - targets) | reads(item.item)
        return live
    if isinstance(node, cst.Match):
        cases = [live_before(block(case.body), after, jumps) | reads(case.guard) for case in node.cases]
        return union_of([after, reads(node.subject), *cases])
    return _live_small(node, after, jumps)


def inner_blocks(
    node: cst.CSTNode, after: Names, jumps: Jumps
) -> Iterator[tuple[Sequence[cst.CSTNode], Names, Jumps]]:
    """Yield the statements of each block of an `if`, loop, `with` or `match`, the names whose value is needed
    behind the block, and its jumps.

    A `try` yields nothing, because an exception may leave its blocks after any statement.
    """
    if isinstance(node, cst.If):
        yield block(node.body), after, jumps
        yield block(node.orelse), after, jumps
    elif isinstance(node, (cst.While, cst.For)):
        head = loop_head(node, after, jumps)
        yield block(node.body), head, Jumps(after, head)
        yield block(node.orelse), after, jumps
    elif isinstance(node, cst.With):
        yield block(node.body), after, jumps
    elif isinstance(node, cst.Match):
        for case in node.cases:
            yield block(case.body), after, jumps


def live_when_left(node: cst.Try | cst.TryStar, after: Names, jumps: Jumps) -> Names:
    """Return the names that are needed when an exception has left the body of a `try`."""
    behind = live_before(block(node.finalbody), after, jumps)
    live_names = live_before(block(node.finalbody), NO_NAMES, jumps)
    for handler in node.handlers:
        handler_name = writes([handler.name]) if handler.name is not None else NO_NAMES
        live_names |= (live_before(block(handler.body), behind, jumps) - handler_name) | reads(handler.type)
    return live_names


def _live_small(node: cst.CSTNode, after: Names, jumps: Jumps) -> Names:
    if type(node) is cst.Break:
        return jumps.at_break
    if type(node) is cst.Continue:
        return jumps.at_continue
    if type(node) is cst.Return or type(node) is cst.Raise:
        return reads(node)
    bound_names, read_names, assigned_names = _names_of_small(node)
    return ((after - bound_names) | read_names) - assigned_names


@memoize
def _names_of_small(node: cst.CSTNode) -> tuple[Names, Names, Names]:
    """Return the names that a statement without blocks binds, that it reads, and that it assigns by `:=`
    before it reads them.
    """
    if type(node) is cst.Assign:
        targets = frozenset(name for target in node.targets for name in bound_targets(target.target))
        return targets, reads(node), assigned_first(node.value)
    if type(node) is cst.AnnAssign:
        return frozenset(bound_targets(node.target) if node.value else ()), reads(node), NO_NAMES
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return frozenset((node.name.value,)), reads(node), NO_NAMES
    return NO_NAMES, reads(node), assigned_first(node)


def _live_loop(node: cst.While | cst.For, after: Names, jumps: Jumps) -> Names:
    head = loop_head(node, after, jumps)
    return head | reads(node.iter) if type(node) is cst.For else head


def loop_head(node: cst.While | cst.For, after: Names, jumps: Jumps = Jumps()) -> Names:
    """Return the names that are live where a loop decides whether to run another iteration.

    At that point the target of a `for` loop is not yet bound.
    """
    leave = live_before(block(node.orelse), after, jumps)
    head = leave
    while True:
        body = live_before(block(node.body), head, Jumps(after, head))
        if isinstance(node, cst.For):
            new_head = leave | (body - set(bound_targets(node.target))) | target_reads(node.target)
        else:
            new_head = (leave | body | reads(node.test)) - assigned_first(node.test)
        if new_head <= head:
            return head
        head |= new_head
