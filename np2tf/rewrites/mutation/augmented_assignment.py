"""Rewrites `x[i] += v` -> `x = tnp.at(x)[i].add(v)`. `x += v` stays: the array's own operator writes in
place.
"""

from __future__ import annotations

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.rewrites.mutation.order import Effect, effect
from np2tf.rewrites.mutation.place import at, is_place, write
from np2tf.rewrites.planning.plan import Plan
from np2tf.tree.templates import small_statement

METHODS: dict[type[cst.CSTNode], str] = {
    cst.AddAssign: "add",
    cst.SubtractAssign: "subtract",
    cst.MultiplyAssign: "multiply",
    cst.DivideAssign: "divide",
    cst.FloorDivideAssign: "floor_divide",
    cst.ModuloAssign: "remainder",
    cst.PowerAssign: "power",
    cst.MatrixMultiplyAssign: "matmul",
    cst.BitAndAssign: "bitwise_and",
    cst.BitOrAssign: "bitwise_or",
    cst.BitXorAssign: "bitwise_xor",
    cst.LeftShiftAssign: "left_shift",
    cst.RightShiftAssign: "right_shift",
}


def plan(facts: Facts, plan: Plan, report: Report) -> None:
    """Plan every augmented store through a subscript."""
    for statement in facts.nodes(cst.AugAssign):
        if not is_place(facts, statement.target):
            continue
        if effect(facts, statement.value) is Effect.CALLS:
            # Python reads x[i] before it computes the value; the call might change x[i] in between.
            continue
        plan.require(tnp=True)

        def edit(updated_node: cst.AugAssign) -> cst.BaseSmallStatement:
            place = updated_node.target
            assert type(place) is cst.Subscript
            call = write(at(place, plan.tnp_name), METHODS[type(updated_node.operator)], updated_node.value)
            new = small_statement("{x} = {call}", x=place.value, call=call)
            return new.with_changes(semicolon=updated_node.semicolon)

        plan.add(statement, edit)
