"""Lowers `a if t else b` to `np2tf.cond(t, lambda: a, lambda: b)`."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.control.common.construct import ExpressionConstruct, Judge
from np2tf.rewrites.control.common.counting import counts
from np2tf.tree.templates import expression


def is_lowered(judge: Judge, node: cst.IfExp) -> bool:
    """Return whether the test may be an array's value, and does not count calls."""
    return not counts(judge, node.test) and not judge.static(node.test)


def edit(node: cst.IfExp) -> cst.BaseExpression:
    """Return the call for a conditional expression."""
    return expression("np2tf.cond({test}, lambda: {body}, lambda: {orelse})",
                      test=node.test, body=node.body, orelse=node.orelse)  # fmt: skip


#: The row of `table.py`.
CONSTRUCTS = {cst.IfExp: ExpressionConstruct(is_lowered, edit)}
