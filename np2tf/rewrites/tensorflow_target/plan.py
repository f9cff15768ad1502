"""`--target tf`: plan the translation of whole modules, or report why a module is refused."""

from __future__ import annotations

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.options import Options
from np2tf.rewrites.planning.plan import Plan
from np2tf.rewrites.planning.uses import quoted_annotations, uses
from np2tf.rewrites.tensorflow_target.functions import add_module, follow
from np2tf.rewrites.tensorflow_target.imports import left_over, passed_on, plan_annotations, plan_imports
from np2tf.rewrites.tensorflow_target.model.program import Program
from np2tf.rewrites.tensorflow_target.model.world import World
from np2tf.rewrites.tensorflow_target.staging.loops import plan_loops


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan the translation of a module alone, if nothing in it is refused."""
    program = Program()
    add_module(program, facts, report.path)
    follow(program)
    (world,) = program.worlds.values()
    if not refused(world, report):
        plan_module(world, plan, report)


def is_translated(facts: Facts) -> bool:
    """Return whether a module uses TensorFlow, and of NumPy nothing but random generators."""
    of_tensorflow = any(
        alias.evaluated_name.split(".")[0] == "tensorflow" for alias in facts.nodes(cst.ImportAlias)
    )
    return of_tensorflow and all(
        use.is_module or use.qualified_name.startswith("numpy.random.") for use in uses(facts)
    )


def refused(world: World, report: Report) -> bool:
    """Report the reasons to refuse a module that has been followed, and return whether there is one."""
    facts = world.facts
    for alias in passed_on(facts):
        report.add("NP2TF603", *facts.place(alias), what="a name of NumPy's that others may import from here")
    for string, _ in quoted_annotations(facts, ""):
        report.add("NP2TF603", *facts.place(string), what="an annotation in quotes that names NumPy")
    if facts.compiler_nodes:
        report.add(
            "NP2TF603", *facts.place(next(iter(facts.compiler_nodes))), what="code for another compiler"
        )
    plan_annotations(world)
    for node in left_over(world):
        world.refuse(node, "NP2TF601", name=facts.code(node))
    for name, text in {**facts.imports.ambiguous, **facts.imports.tests_for_none}.items():
        report.add("NP2TF603", *facts.place(name), what=f"the name `{text}`, which is not always NumPy's")
    for node, decision in world.decisions.items():
        for code, words in decision.refusals:
            report.add(code, *_place(facts, node), **words)
    return len(list(report)) > 0


def plan_module(world: World, plan: Plan, report: Report) -> None:
    """Plan the edits of a module in which nothing is refused."""
    plan_loops(world)
    helpers: set[str] = set()
    for node, decision in world.decisions.items():
        helpers |= decision.helpers
        for edit in decision.edits:
            plan.add(node, edit)
    _note_writers(world, report)
    if world.facts.imports.imports_numpy or helpers or plan:
        plan_imports(world, plan, helpers)


def _place(facts: Facts, node: cst.CSTNode) -> tuple[int, int, tuple[int, int]]:
    return (1, 1, (1, 1)) if type(node) is cst.Module else facts.place(node)


def _note_writers(world: World, report: Report) -> None:
    """Report the functions that return more than before: calls in other files must take the new result."""
    for summary in world.summaries:
        if summary.writes and isinstance(summary.node, cst.FunctionDef):
            names = ", ".join(sorted(summary.writes))
            place = world.facts.place(summary.node)
            report.add("NP2TF609", *place, name=summary.node.name.value, parameters=names)
