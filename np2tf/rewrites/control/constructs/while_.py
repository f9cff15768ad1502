"""Lowers `while` to `state = np2tf.while_loop(keep_going, step, state)`."""

from __future__ import annotations

import libcst as cst

from np2tf.facts.dataflow.liveness import loop_head
from np2tf.facts.dataflow.reads_writes import Names, block, reads, writes
from np2tf.rewrites.control.common.construct import Judge, StatementConstruct
from np2tf.rewrites.control.common.flags import is_true
from np2tf.rewrites.control.common.layout import (
    assignment_target,
    blank,
    call,
    comment_of,
    footer_of,
    helper,
    line,
    rebind_parameters,
    rename_parameters,
    return_statement,
    statements_of,
    tuple_of,
)
from np2tf.rewrites.control.common.lowers import Lowers
from np2tf.rewrites.control.common.marks import CannotLower
from np2tf.rewrites.control.common.scope import Scope
from np2tf.tree.templates import Statement
from np2tf.tree.walk import walk


def is_lowered(judge: Judge, node: cst.While) -> bool:
    """Return whether the test may be an array's value, or changes; CannotLower if nothing ends the loop."""
    static = judge.static(node.test)
    variables = reads(node.test) & writes(block(node.body))
    jumps = any(type(part) in (cst.Break, cst.Return) for part in walk(node))
    if static and not variables and not jumps:
        if is_true(node.test):
            # Only an exception could end such a loop, so tracing the loop would never end.
            raise CannotLower("NP2TF301", node, kind="while", reason="no break and no return")
        return False
    if static and judge.reason(node) is not None:
        return False
    judge.check(node)
    return True


def lower(lowering: Lowers, node: cst.While, live: Names, scope: Scope, tail: bool) -> list[Statement]:
    """Return the helpers and the call for a `while`."""
    body = statements_of(node)
    naming, closures = lowering.naming, lowering.closures
    caller = closures.rebinding_function(node.test)
    if caller is not None:
        raise CannotLower(
            "NP2TF301", node, kind="while", reason=f"`{caller}`, which rebinds names, in its test"
        )
    variables = closures.written_names(node, body, scope)
    shared_names = closures.shared_names(node, [node.test, *body], variables, scope)
    inside = closures.shared_names(node, body, variables, scope)
    head = loop_head(node, live) | closures.kept_names(body, scope) | frozenset(shared_names)
    state = [name for name in variables if name in head]
    closures.check_leaving(node, variables, state)
    values = [scope.value(name) for name in state]
    inner = scope.helper(body, state)
    step_body = lowering.scope_body(body, head, inner, tail=False)
    keep_going, step = naming.name("keep_going"), naming.name("step")
    test_names = closures.shared_names(node, [node.test], variables, scope)
    test = [*rebind_parameters(state, test_names, naming), _return(node.test)]
    params = rename_parameters(state, test_names, naming)
    again = helper(keep_going, params, test, node.leading_lines, comment_of(node.body))
    step_body = [
        *rebind_parameters(state, inside, naming),
        *step_body,
        *return_statement(state, True, footer_of(node)),
    ]
    once = helper(step, rename_parameters(state, inside, naming), step_body)
    text = call(
        assignment_target(state),
        "np2tf.while_loop",
        (keep_going, step, tuple_of(values)),
        scope.depth,
        scope.width,
    )
    return [again, once, line(text, blank())]


def _return(test: cst.BaseExpression) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Return(test)])


#: The row of `table.py`.
CONSTRUCTS = {cst.While: StatementConstruct(is_lowered, lower)}
