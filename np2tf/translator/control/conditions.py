"""Lowers `a if t else b`, `and`, `or`, `not`, chained comparisons and `is True`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from np2tf.translator.control.construct import ExpressionConstruct, counts
from np2tf.translator.control.static import asks_for_truth
from np2tf.translator.tree.templates import expression

if TYPE_CHECKING:
    from np2tf.translator.control.decide import Decider

# -- ternary -------------------------------------------------------------------------------------------------
# Lowers `a if t else b` to `np2tf.cond(t, lambda: a, lambda: b)`.


def is_lowered(judge: Decider, node: cst.IfExp) -> bool:
    """Return whether the test may be an array's value, and does not count calls."""
    return not counts(judge, node.test) and not judge.static(node.test)


def ternary_edit(node: cst.IfExp) -> cst.BaseExpression:
    """Return the call for a conditional expression."""
    return expression("np2tf.cond({test}, lambda: {body}, lambda: {orelse})",
                      test=node.test, body=node.body, orelse=node.orelse)  # fmt: skip


#: The row of `constructs.py`.
TERNARY = {cst.IfExp: ExpressionConstruct(is_lowered, ternary_edit)}


# -- boolean -------------------------------------------------------------------------------------------------
# Lowers `and`, `or`, `not`, chained comparisons and `is True` to `np2tf.and_`, `np2tf.or_`, `np2tf.not_` and
# `np2tf.is_`.
#
# The second operand becomes a lambda, so that it is evaluated only if Python would evaluate it.

_SIMPLE = (cst.Name, cst.BaseNumber, cst.SimpleString)


def is_operation_lowered(judge: Decider, node: cst.BooleanOperation) -> bool:
    """Return whether an operand of `and` or `or` may be an array's value."""
    return not counts(judge, node) and not (judge.static(node.left) and judge.static(node.right))


def is_not_lowered(judge: Decider, node: cst.UnaryOperation) -> bool:
    """Return whether this is `not` of an expression that may be an array's value."""
    is_not = type(node.operator) is cst.Not
    return is_not and not counts(judge, node) and not judge.static(node.expression)


def is_comparison_lowered(judge: Decider, node: cst.Comparison) -> bool:
    """Return whether this is `a < b < c` or `a is True` of expressions that may be arrays' values."""
    is_of_form = len(node.comparisons) > 1 or asks_for_truth(node)
    return is_of_form and not counts(judge, node) and not judge.static(node)


def boolean_edit(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return the operator call for a boolean expression."""
    if type(node) is cst.UnaryOperation:
        return expression("np2tf.not_({x})", x=_bare(node.expression))
    if type(node) is cst.BooleanOperation:
        operator = "and_" if type(node.operator) is cst.And else "or_"
        return expression(f"np2tf.{operator}({{a}}, lambda: {{b}})", a=node.left, b=node.right)
    if type(node) is cst.Comparison:
        return _identity(node) if asks_for_truth(node) else _chain(node)
    return node


def _bare(operand: cst.BaseExpression) -> cst.BaseExpression:
    """Return an operand without its parentheses, because the operator call has parentheses of its own."""
    if type(operand) is not cst.Call or any(
        not parenthesis.whitespace_after.empty for parenthesis in operand.lpar
    ):
        return operand
    return operand.with_changes(lpar=(), rpar=())


def _identity(node: cst.Comparison) -> cst.BaseExpression:
    """Return `np2tf.is_(a, True)` for `a is True`, and its negation for `a is not True`."""
    part = node.comparisons[0]
    test = expression("np2tf.is_({a}, {truth})", a=_bare(node.left), truth=part.comparator)
    return test if type(part.operator) is cst.Is else expression("np2tf.not_({test})", test=test)


def _chain(node: cst.Comparison) -> cst.BaseExpression:
    """Return `np2tf.and_(a < b, lambda: b < c)` for `a < b < c`, with b evaluated once."""
    left = node.left
    links: list[cst.BaseExpression] = []
    last = len(node.comparisons) - 1
    for number, part in enumerate(node.comparisons):
        middle = part.comparator
        operand = middle
        if number < last and not _repeatable(middle):
            operand = cst.Name("middle" if number == 0 else f"middle_{number + 1}")
            middle = expression("({name} := {value})", name=operand, value=middle)
        links.append(cst.Comparison(left=left, comparisons=[part.with_changes(comparator=middle)]))
        left = operand.deep_clone()
    # What a lambda binds, only the lambdas inside it can read.
    conjunction = links.pop()
    for link in reversed(links):
        conjunction = expression("np2tf.and_({a}, lambda: {b})", a=link, b=conjunction)
    return conjunction


def _repeatable(node: cst.BaseExpression) -> bool:
    """Return whether writing the expression twice costs nothing and changes nothing."""
    if isinstance(node, _SIMPLE):
        return True
    if type(node) is cst.Attribute:
        return _repeatable(node.value)
    if type(node) is cst.UnaryOperation:
        return _repeatable(node.expression)
    return False


#: The rows of `constructs.py`.
BOOLEAN = {
    cst.BooleanOperation: ExpressionConstruct(is_operation_lowered, boolean_edit),
    cst.UnaryOperation: ExpressionConstruct(is_not_lowered, boolean_edit),
    cst.Comparison: ExpressionConstruct(is_comparison_lowered, boolean_edit),
}
