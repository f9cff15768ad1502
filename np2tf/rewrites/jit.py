"""Decorates the functions that are fit for staging, and for which it pays, with `@np2tf.jit`."""

from __future__ import annotations

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.options import Options
from np2tf.rewrites.control.fitness import Fitness
from np2tf.rewrites.planning.plan import Plan


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Decorate the staged functions."""
    if not options.jit:
        return
    for function in Fitness.of(facts, options).staged_functions:
        plan.require(runtime=True)
        plan.add(function, decorate)


def decorate(function: cst.FunctionDef) -> cst.FunctionDef:
    """Return the function under `@np2tf.jit`, which becomes the innermost decorator."""
    new = cst.Decorator(cst.Attribute(cst.Name("np2tf"), cst.Name("jit")))
    if function.decorators:
        return function.with_changes(decorators=[*function.decorators, new])
    # The comments between decorators and `def` are the comments above a bare `def`.
    return function.with_changes(
        decorators=[new.with_changes(leading_lines=function.leading_lines)],
        leading_lines=(),
    )
