"""Plans the lowering and the decorator of every function that is staged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from np2tf.core.diagnostics import Report
from np2tf.translator.control import jumps
from np2tf.translator.control.calls import (
    explicit_super,
    list_of,
    of_np2tf,
    of_np2tf_math,
    wrap_callee,
    wrap_manager,
)
from np2tf.translator.control.constructs import EXPRESSIONS
from np2tf.translator.control.decide import Decision, eager_texts
from np2tf.translator.control.fitness import Fitness
from np2tf.translator.control.lower import lower_function
from np2tf.translator.control.scope import Marks
from np2tf.translator.facts.facts import Facts
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.sources.options import Options

# -- jit -----------------------------------------------------------------------------------------------------
# Decorates the functions that are fit for staging, and for which it pays, with `@np2tf.jit`.


def plan_decorators(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Decorate the staged functions."""
    if not options.jit:
        return
    for function in facts.get(Fitness, options).staged_functions:
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


# -- control -------------------------------------------------------------------------------------------------
# Lowering of Python's control flow to np2tf's operators: which functions and statements, and how.


def has_staged_functions(facts: Facts, options: Options) -> bool:
    """Return whether some function will be staged."""
    return options.jit and bool(facts.get(Fitness, options).staged_functions)


def note_staged_functions(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Let the rewrites of writes know the functions that will be staged, outside of which writes stay."""
    if options.as_source:
        staged = facts.get(Fitness, options).staged_functions if options.jit else ()
        plan.staged_functions = frozenset(staged)


def plan_lowering(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Lower the control flow of every function that will be staged."""
    if not options.jit:
        return
    fitness = facts.get(Fitness, options)
    fitness.report(facts, report)
    for function, decision in fitness.staged_functions.items():
        if options.eager:
            decision = replace(decision, texts=eager_texts(function, facts))
        if decision.lowers_text:
            plan.require(runtime=True)
            _plan_function(function, decision, facts, plan, options.line_length)
    if options.eager:
        for function, decision in fitness.calls_of_unfit(facts):
            plan.require(runtime=True)
            _plan_function(function, decision, facts, plan, options.line_length)


def _plan_function(
    function: cst.FunctionDef, decision: Decision, facts: Facts, plan: Plan, line_length: int
) -> None:
    marks = Marks()
    for node in decision.marks.lowered_nodes:
        plan.add(node, _remember(marks))
    for expression in decision.expressions:
        plan.add(expression, EXPRESSIONS[type(expression)].edit)
    for name in decision.builtins:
        plan.add(name, of_np2tf)
    for func in decision.math:
        plan.add(func, of_np2tf_math)
    for callee in decision.callees:
        plan.add(callee, wrap_callee)
    for manager in decision.contexts:
        plan.add(manager, wrap_manager)
    for call in decision.supers:
        plan.add(call, explicit_super(function))
    for handler in decision.handlers:
        plan.add(handler, jumps.on_host)
    for text, edit in decision.texts:
        plan.add(text, edit)
    for comprehension in decision.comprehensions:
        plan.add(comprehension, list_of)
    if decision.marks.lowered_nodes:
        width = line_length - 4 * _depth(function, facts)
        plan.add(function, lambda updated_node: lower_function(updated_node, marks, width))


def _depth(function: cst.FunctionDef, facts: Facts) -> int:
    """Return the number of blocks around a function."""
    return sum(type(above) is cst.IndentedBlock for above in facts.parents.above(function))


def _remember(marks: Marks) -> Callable[[cst.CSTNode], cst.CSTNode]:
    """Return an edit that marks the edited node, because the decision was made on the original node."""

    def edit(updated_node: cst.CSTNode) -> cst.CSTNode:
        marks.lowered_nodes.add(updated_node)
        return updated_node

    return edit
