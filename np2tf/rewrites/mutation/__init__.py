"""Turns in-place writes into rebindings, such as `x[i] = v` -> `x = tnp.at(x)[i].set(v)`.

A write that cannot be turned into a rebinding safely stays as it is: np2tf's ndarray writes through, so the
plain statement is right too. May import `planning`, `facts` and `tree`; control flow stays out.
"""

from __future__ import annotations

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.options import Options
from np2tf.rewrites.mutation import augmented_assignment, functions, store
from np2tf.rewrites.planning.plan import Plan


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan every kind of in-place write."""
    store.plan(facts, plan, report)
    augmented_assignment.plan(facts, plan, report)
    functions.plan(facts, plan, report)
