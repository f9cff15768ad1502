"""`--target tf`: plan the translation of a whole module, or report why the module is refused."""

from __future__ import annotations

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.options import Options
from np2tf.rewrites.planning.plan import Plan
from np2tf.rewrites.planning.uses import quoted_annotations
from np2tf.rewrites.tensorflow_target.functions import follow_module
from np2tf.rewrites.tensorflow_target.imports import left_over, passed_on, plan_annotations, plan_imports
from np2tf.rewrites.tensorflow_target.model.world import World
from np2tf.rewrites.tensorflow_target.staging.loops import plan_loops


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan the translation of a module, if nothing in it is refused."""
    for alias in passed_on(facts):
        report.add("NP2TF603", *facts.place(alias), what="a name of NumPy's that others may import from here")
    for string, _ in quoted_annotations(facts, ""):
        report.add("NP2TF603", *facts.place(string), what="an annotation in quotes that names NumPy")
    if facts.compiler_nodes:
        report.add(
            "NP2TF603", *facts.place(next(iter(facts.compiler_nodes))), what="code for another compiler"
        )
    world = follow_module(facts)
    plan_annotations(world)
    for node in left_over(world):
        world.refuse(node, "NP2TF601", name=facts.code(node))
    for name, text in facts.imports.ambiguous.items():
        report.add("NP2TF603", *facts.place(name), what=f"the name `{text}`, which is not always NumPy's")
    refused = len(list(report)) > 0
    for node, decision in world.decisions.items():
        for code, words in decision.refusals:
            refused = True
            report.add(code, *_place(facts, node), **words)
    if refused:
        return
    plan_loops(world)
    helpers: set[str] = set()
    for node, decision in world.decisions.items():
        helpers |= decision.helpers
        for edit in decision.edits:
            plan.add(node, edit)
    _note_writers(world, report)
    plan_imports(world, plan, helpers)


def _place(facts: Facts, node: cst.CSTNode) -> tuple[int, int, tuple[int, int]]:
    return (1, 1, (1, 1)) if type(node) is cst.Module else facts.place(node)


def _note_writers(world: World, report: Report) -> None:
    """Report the functions that return more than before: calls in other files must take the new result."""
    for summary in world.summaries.values():
        if summary.writes and type(summary.node) is cst.FunctionDef:
            names = ", ".join(sorted(summary.writes))
            place = world.facts.place(summary.node)
            report.add("NP2TF609", *place, name=summary.node.name.value, parameters=names)
