"""`while` becomes `state = np2tf.while_loop(keep_going, step, state)`."""

from __future__ import annotations

import libcst as cst

from np2tf.facts.flow import Names, loop_head
from np2tf.rewrites.control.layout import (
    assigned,
    blank,
    call,
    comment_of,
    footer_of,
    helper,
    line,
    returning,
    statements_of,
    tuple_of,
)
from np2tf.rewrites.control.scope import Lowers, Scope
from np2tf.tree.templates import Statement


def lower(lowering: Lowers, node: cst.While, live: Names, scope: Scope) -> list[Statement]:
    """The helpers and the call that a `while` becomes."""
    body = statements_of(node)
    head = loop_head(node, live)
    state = [name for name in scope.written(body) if name in head]
    values = [scope.value(name) for name in state]
    inner = scope.helper(body, state)
    stepped = lowering.scope_body(body, head, inner, tail=False)
    keep_going, step = lowering.naming.name("keep_going"), lowering.naming.name("step")
    again = helper(keep_going, state, [_return(node.test)], node.leading_lines, comment_of(node.body))
    once = helper(step, state, [*stepped, *returning(state, True, footer_of(node))])
    text = call(assigned(state), "np2tf.while_loop", (keep_going, step, tuple_of(values)), scope.depth)
    return [again, once, line(text, blank())]


def _return(test: cst.BaseExpression) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Return(test)])
