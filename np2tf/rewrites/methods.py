"""Rewrites in-place methods of an array, `x.sort()` -> `x = tnp.at(x).sort()`, if x visibly is an array."""

from __future__ import annotations

import libcst as cst

from np2tf import rules
from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.options import Options
from np2tf.rewrites.mutation.rebinding import can_rebind
from np2tf.rewrites.planning.plan import Plan
from np2tf.tree.names import name_node
from np2tf.tree.templates import expression, small_statement


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan every call of an in-place method that is a statement of its own."""
    for statement in facts.nodes(cst.Expr):
        call = statement.value
        if type(call) is not cst.Call or type(call.func) is not cst.Attribute:
            continue
        rule = rules.find(f"numpy.ndarray.{call.func.attr.value}")
        if rule is None or not rule.writes:
            continue
        array = call.func.value
        if facts.kinds.is_array(array) and can_rebind(facts, array):
            plan.require(tnp=True)
            plan.add(statement, lambda updated_node: _rebound(updated_node, plan.tnp_name))


def _rebound(updated_node: cst.Expr, tnp: str) -> cst.BaseSmallStatement:
    call = updated_node.value
    assert type(call) is cst.Call
    assert type(call.func) is cst.Attribute
    array = call.func.value
    at = expression("{tnp}.at({x})", tnp=name_node(tnp), x=array)
    new = small_statement(
        "{x} = {call}", x=array, call=call.with_changes(func=call.func.with_changes(value=at))
    )
    return new.with_changes(semicolon=updated_node.semicolon)
