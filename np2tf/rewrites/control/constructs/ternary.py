"""Lowers `a if t else b` to `np2tf.cond(t, lambda: a, lambda: b)`."""

from __future__ import annotations

import libcst as cst

from np2tf.tree.templates import expression


def edit(node: cst.IfExp) -> cst.BaseExpression:
    """Return the call for a conditional expression."""
    return expression("np2tf.cond({test}, lambda: {body}, lambda: {orelse})",
                      test=node.test, body=node.body, orelse=node.orelse)  # fmt: skip
