"""Tests whose value a flag can take, and the line that sets the flag."""

from __future__ import annotations

import libcst as cst

from np2tf.rewrites.control.common.layout import code, line
from np2tf.tree.templates import Statement

_TRUTHS = frozenset({"not_", "any", "all", "allclose", "array_equal", "isnan", "isfinite", "isinf"})


def is_true(test: cst.BaseExpression) -> bool:
    """Return whether a test is a literal that always holds: `while True`, `while 1`."""
    return code(test).strip("() ") in ("True", "1")


def is_bool(test: cst.BaseExpression) -> bool:
    """Return whether a test's value is a single truth value, so that a flag can take it."""
    if type(test) is cst.Call:
        name = test.func.attr.value if type(test.func) is cst.Attribute else ""
        if name in ("and_", "or_") and len(test.args) == 2:
            left, right = (arg.value for arg in test.args)
            return is_bool(left) and type(right) is cst.Lambda and is_bool(right.body)
        return name in _TRUTHS
    return type(test) is cst.Comparison and len(test.comparisons) == 1


def without_assignments(test: cst.BaseExpression) -> tuple[cst.BaseExpression, list[Statement]]:
    """Return a test that reads the names bound by its `:=`, and the lines that bind them."""
    assigns: list[Statement] = []

    class Hoist(cst.CSTTransformer):
        def leave_NamedExpr(
            self, original_node: cst.NamedExpr, updated_node: cst.NamedExpr
        ) -> cst.BaseExpression:
            assigns.append(line(f"{code(updated_node.target)} = {code(updated_node.value)}"))
            return updated_node.target

    new_test = test.visit(Hoist())
    assert isinstance(new_test, cst.BaseExpression)
    return new_test, assigns


def set_flag(text: str, node: cst.If, jump: Statement) -> Statement:
    """Return the line that replaces `if test: break`, with the comments of both lines."""
    statement = line(text, [*node.leading_lines, *jump.leading_lines])  # type: ignore[union-attr]
    for place in (getattr(node.body, "header", None), getattr(jump, "trailing_whitespace", None)):
        if place is not None and place.comment is not None:
            return statement.with_changes(trailing_whitespace=place)
    return statement
