"""Rewrites calls that write into an argument: `np.copyto(x, v)` -> `x = tnp.copyto(x, v)`; likewise
`np.add.at` and `out=`.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.rewrites.mutation.rebinding import can_rebind
from np2tf.rewrites.planning.plan import Plan
from np2tf.rewrites.planning.uses import stays, uses
from np2tf.rules import Rule
from np2tf.tree.templates import small_statement


def plan(facts: Facts, plan: Plan, report: Report) -> None:
    """Plan every call of a writing function that is a statement of its own."""
    for use in uses(facts):
        call = facts.parents[use.node]
        if use.rule is None or type(call) is not cst.Call or call.func is not use.node or stays(facts, use):
            continue
        array = written_argument(use.rule, call)
        if array is None:
            continue
        statement = facts.parents[call]
        if type(statement) is not cst.Expr:
            if use.rule.writes:
                report.add("NP2TF102", *facts.place(call), name=facts.code(use.node))
            continue
        if can_rebind(facts, array) and (use.rule.writes or not _may_be_none(facts, array)):
            plan.add(statement, _rebind(use.rule))


def written_argument(rule: Rule, call: cst.Call) -> cst.BaseExpression | None:
    """Return the argument of a call that the function writes to; None if there is none."""
    keyword = rule.writes[0] if rule.writes else "out"
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
    if rule.writes and call.args and call.args[0].keyword is None and not call.args[0].star:
        return call.args[0].value
    return None


def _may_be_none(facts: Facts, array: cst.BaseExpression) -> bool:
    """Return whether a name visibly may be None: with `out=None` NumPy writes to nothing, and the name must
    stay None.
    """
    if type(array) is not cst.Name:
        return False
    owner = facts.scopes.of(array).owner_of(array.value)
    assert owner is not None  # a name that can be bound again
    values = [_given_value(facts, binding) for binding in owner.bindings[array.value]]
    return any(type(value) is cst.Name and value.value == "None" for value in values)


def _given_value(facts: Facts, binding: cst.CSTNode) -> cst.CSTNode | None:
    """Return the default of a parameter, or the value that a statement assigns."""
    if type(binding) is cst.Param:
        return binding.default
    target = facts.parents[binding]
    statement = facts.parents[target] if type(target) is cst.AssignTarget else target
    return statement.value if isinstance(statement, (cst.Assign, cst.AnnAssign)) else None


def _rebind(rule: Rule) -> Callable[[cst.Expr], cst.BaseSmallStatement]:
    def edit(updated_node: cst.Expr) -> cst.BaseSmallStatement:
        call = updated_node.value
        assert type(call) is cst.Call
        array = written_argument(rule, call)
        assert array is not None
        return small_statement("{x} = {call}", x=array, call=call).with_changes(
            semicolon=updated_node.semicolon
        )

    return edit
