"""Rewrites stores into elements: `x[i] = v` -> `x = tnp.at(x)[i].set(v)`."""

from __future__ import annotations

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.rewrites.mutation.order import may_swap
from np2tf.rewrites.mutation.place import at, is_place, read_by, write
from np2tf.rewrites.planning.plan import Plan
from np2tf.tree.templates import small_statement


def plan(facts: Facts, plan: Plan, report: Report) -> None:
    """Plan every plain store through a subscript."""
    for assign in facts.nodes(cst.Assign):
        target = assign.targets[0].target
        if len(assign.targets) > 1 or not is_place(facts, target):
            continue
        assert type(target) is cst.Subscript
        if not may_swap(facts, read_by(target), assign.value):
            report.add("NP2TF101", *facts.place(assign), code=facts.code(target))
            continue
        plan.require(tnp=True)

        def edit(updated_node: cst.Assign) -> cst.BaseSmallStatement:
            place = updated_node.targets[0].target
            assert type(place) is cst.Subscript
            call = write(at(place, plan.tnp_name), "set", updated_node.value)
            new = small_statement("{x} = {call}", x=place.value, call=call)
            return new.with_changes(semicolon=updated_node.semicolon)

        plan.add(assign, edit)
