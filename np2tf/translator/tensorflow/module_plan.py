"""The entry: follows modules until nothing new is found, then plans or refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from np2tf.core.diagnostics import Report, codes
from np2tf.translator.facts.dataflow import (
    NO_NAMES,
    Jumps,
    Names,
    block,
    free_names,
    inner_blocks,
    live_before,
    live_when_left,
    reads,
)
from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.switched_off import switched_off
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.rewrites.uses import quoted_annotations
from np2tf.translator.sources.options import Options
from np2tf.translator.tensorflow.array_users import open_parameter
from np2tf.translator.tensorflow.borders import Borders, Cause
from np2tf.translator.tensorflow.expressions import EXPRESSIONS
from np2tf.translator.tensorflow.graph_loops import plan_loops
from np2tf.translator.tensorflow.head import left_over, passed_on, plan_annotations, plan_imports
from np2tf.translator.tensorflow.hosts import as_host, imported_modules, stay_with
from np2tf.translator.tensorflow.model import Frame, Program, Summary, World, shared_names
from np2tf.translator.tensorflow.objects import holds_host, is_open, parameter_names
from np2tf.translator.tensorflow.remedies import draw_borders
from np2tf.translator.tensorflow.returned_writes import end_with_return
from np2tf.translator.tensorflow.shared_helpers import is_shared_import
from np2tf.translator.tensorflow.statements import run
from np2tf.translator.tensorflow.values import Value, join, plain, unknown
from np2tf.translator.tree.nodes import walk

# -- functions -----------------------------------------------------------------------------------------------
# Follows the modules and their functions in rounds, until a round finds no new fact (a fixed point).

#: Modules settle in a few rounds; a module that does not settle is refused.
_ROUNDS = 30
#: A program is followed this often, with more and more that stays on NumPy.
_ATTEMPTS = 80


def add_module(program: Program, facts: Facts, file: str) -> None:
    """Add a module to a program that has not been followed."""
    world = World(facts, program, file, EXPRESSIONS)
    world.shared_owners = shared_names(facts)
    program.worlds[file] = world
    for node in switched_off(facts.module):
        program.borders.keep("statement", node)


def follow_to_borders(make: Callable[[Borders], Program], borders: Borders) -> Program:
    """Follow programs, each with more that stays on NumPy than the one before, until nothing is refused."""
    for _ in range(_ATTEMPTS):
        program = make(borders)
        follow(program)
        if not borders.take_wanted() and not (draw_borders(program) and borders.take_wanted()):
            break
    return program


def follow(program: Program) -> None:
    """Follow the modules of a program until the facts about them do not change any more."""
    for _ in range(_ROUNDS):
        program.begin_round()
        for world in program.worlds.values():
            if program.borders.has("file", world.file):
                _stay_with_imports(world)
                continue
            run(world.facts.module.body, Frame(world, None, {}, {}, NO_NAMES))
        for summary in list(program.summaries.values()):
            if isinstance(summary.node, cst.FunctionDef) and _is_known(summary):
                _follow(summary, summary.node)
        if not program.changed and not _open_up(program):
            break
    else:
        for world in program.worlds.values():
            world.refuse(world.facts.module, "NP2TF603", what="a module whose values keep changing")
    cycle = program.import_in_cycle()
    if cycle is not None:
        file, node = cycle
        program.worlds[file].refuse(node, "NP2TF603", what="modules that import one another")


def _stay_with_imports(world: World) -> None:
    """Let the modules that a module imports stay as they are, as the module itself does."""
    imports: list[cst.Import | cst.ImportFrom] = [
        *world.facts.nodes(cst.Import),
        *world.facts.nodes(cst.ImportFrom),
    ]
    for node in imports:
        for module in imported_modules(node, world):
            stay_with(module, world)


def _is_known(summary: Summary) -> bool:
    """Return whether every parameter has a value from a call or from its default."""
    return all(name in summary.parameters for name in parameter_names(summary.node))


def _open_up(program: Program) -> bool:
    """Let the parameters that no call in the program has set be anything: other programs may call the
    function. Return whether there was such a parameter.
    """
    found = False
    for summary in program.summaries.values():
        function = summary.node
        for name in parameter_names(function):
            known = summary.parameters.get(name)
            if known is None and not summary.is_value:
                summary.parameters[name] = open_parameter(function, name)
                found = True
            elif known is None or (summary.is_value and not known.may("any")):
                anything = unknown(("param", function, name), certain=False)
                summary.parameters[name] = join(known, anything) or anything
                found = True
    if not found:  # All functions have been followed, so that no text sets these attributes.
        for key in list(program.classes.unset_attributes()):
            program.classes.learn(key, unknown(key, certain=False))
            found = True
    return found


def _follow(summary: Summary, function: cst.FunctionDef) -> None:
    world = summary.world
    env: dict[str, Value] = {}
    for name in parameter_names(function):
        value = summary.parameters[name]
        if value.may_be_array and not value.memory:
            value = replace(value, memory=frozenset([("param", function, name)]))
        env[name] = value
    params = function.params
    if type(params.star_arg) is cst.Param:
        name = params.star_arg.name.value
        env[name] = summary.parameters.get(name) or Value(
            frozenset(["tuple"]), item=unknown(("param", function, name), certain=False)
        )
    if params.star_kwarg is not None:
        item = unknown(("param", function, params.star_kwarg.name.value), certain=False)
        env[params.star_kwarg.name.value] = Value(frozenset(["dict"]), item=item, memory=item.memory)
    body = block(function.body)
    for name, value in env.items():
        env[name] = as_host(value) if holds_host(function, name, world.program.borders) else value
    frame = Frame(world, function, env, _live_behind(body), _read_by_others(body))
    for name, value in env.items():
        frame.bind(name, value)
    world.forget(function.body)
    is_reachable = run(body, frame)
    if is_reachable:
        result = join(summary.result, plain("none"))
        world.note_change(result != summary.result)
        summary.result = result
    if summary.writes:
        _finish_writer(summary, function, is_reachable, frame)


def _finish_writer(summary: Summary, function: cst.FunctionDef, reached: bool, frame: Frame) -> None:
    """Check a function that writes to its parameters, which only its known calls may call, and let it return
    the written arrays.
    """
    world = frame.world
    if summary.is_value or function.params.star_kwarg is not None:
        world.refuse(function.body, "NP2TF608", name=function.name.value)
    if not reached:
        return
    for name in summary.writes:
        value = frame.env.get(name)
        if value is None or value.memory != {("param", function, name)}:
            world.refuse(function.body, "NP2TF604", name=name, other="an array from elsewhere")
    end_with_return(summary, frame)


def _read_by_others(body: Sequence[cst.CSTNode]) -> Names:
    """Return the names that inner functions, lambdas and generators may read at any later time."""
    names = NO_NAMES
    for statement in body:
        for node in walk(statement):
            if isinstance(node, (cst.FunctionDef, cst.Lambda)):
                names |= free_names(node)
            elif type(node) is cst.GeneratorExp:
                names |= reads(node)
    return names


def _live_behind(body: Sequence[cst.CSTNode]) -> Mapping[cst.CSTNode, Names]:
    """Return for each statement of a function the names that are read after it."""
    live_names: dict[cst.CSTNode, Names] = {}

    def visit(statements: Sequence[cst.CSTNode], after: Names, jumps: Jumps, always: Names) -> None:
        """`always` has the names that the handlers around may read, which can begin after any statement."""
        live = after
        for node in reversed(statements):
            live_names[node] = live | always
            if type(node) is cst.SimpleStatementLine:
                visit(node.body, live, jumps, always)
            elif type(node) is cst.Try:
                last = block(node.finalbody)
                behind = live_before(last, live, jumps)
                final_names = live_before(last, NO_NAMES, jumps) | always
                handler_names = live_when_left(node, live, jumps)
                visit(last, live, jumps, always)
                visit(block(node.orelse), behind, jumps, final_names)
                for handler in node.handlers:
                    visit(block(handler.body), behind, jumps, final_names)
                at_end = handler_names | live_before(block(node.orelse), behind, jumps)
                visit(block(node.body), at_end, jumps, final_names | handler_names)
            for inner_statements, behind, inner_jumps in inner_blocks(node, live, jumps):
                visit(inner_statements, behind, inner_jumps, always)
            live = live_before([node], live, jumps)

    visit(body, NO_NAMES, Jumps(), NO_NAMES)
    return live_names


# -- plan ----------------------------------------------------------------------------------------------------
# `--target tf`: plan the translation of whole modules, or report why a module is refused.


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan the translation of a module alone, or report why nothing in it is translated."""

    def program(borders: Borders) -> Program:
        made = Program(borders=borders)
        add_module(made, facts, report.path)
        return made

    (world,) = follow_to_borders(program, Borders()).worlds.values()
    # A module that does not name NumPy only may get arrays: it changes as a whole, or not at all.
    is_left = not facts.imports.imports_numpy and _report_causes(world, report)
    if not is_left and not refused(world, report):
        plan_module(world, plan, report)


def is_translated(facts: Facts) -> bool:
    """Return whether a module is a translation: it enables NumPy's operators, or imports what does."""
    of_tensorflow = any(
        alias.evaluated_name.split(".")[0] == "tensorflow" for alias in facts.nodes(cst.ImportAlias)
    )
    names = {node.attr.value for node in facts.nodes(cst.Attribute)} if of_tensorflow else set()
    enables = "experimental_enable_numpy_behavior" in names
    return enables or (of_tensorflow and any(map(is_shared_import, facts.nodes(cst.ImportFrom))))


def refused(world: World, report: Report) -> bool:
    """Report the reasons to refuse a module that has been followed, and return whether there is one."""
    facts = world.facts
    for alias in passed_on(facts):
        report.add("NP2TF603", *facts.place(alias), what="a NumPy name that other files may import from here")
    for string, _ in quoted_annotations(facts, ""):
        report.add("NP2TF603", *facts.place(string), what="an annotation in quotes that names NumPy")
    off = {inside for node in switched_off(facts.module) for inside in walk(node)}
    if compiled := facts.compiler_nodes - off:
        report.add("NP2TF603", *facts.place(next(iter(compiled))), what="code for another compiler")
    plan_annotations(world)
    for node in left_over(world):  # in an annotation, a decorator or a statement that is not followed
        world.keep(node)
    for name, text in {**facts.imports.ambiguous, **facts.imports.tests_for_none}.items():
        report.add("NP2TF603", *facts.place(name), what=f"the name `{text}`, which is not always NumPy's")
    for node, decision in world.decisions.items():
        for code, words in decision.refusals:
            report.add(code, *_place(facts, node), **words)
    is_refused = len(list(report)) > 0 or world.program.borders.has("file", world.file)
    if facts.imports.imports_numpy and (is_refused or not world.computing):
        is_refused |= _report_causes(world, report)
    return is_refused


def _report_causes(world: World, report: Report) -> bool:
    """Report why nothing of a module is translated, each reason once; return whether there is one."""
    reasons = set()
    for cause in world.program.borders.causes:
        if cause.file == world.file and (cause.code, cause.words) not in reasons:
            reasons.add((cause.code, cause.words))
            report.add(cause.code, *_place(world.facts, cause.node), **dict(cause.words))
    return bool(reasons)


def plan_module(world: World, plan: Plan, report: Report, shared_module: str = "") -> set[str]:
    """Plan the edits of a module in which nothing is refused, and return the helpers that it needs."""
    for node, why in plan_loops(world):
        report.add("NP2TF612", *world.facts.place(node), why=why)
    helpers: set[str] = set()
    for node, decision in world.decisions.items():
        helpers |= decision.helpers
        for edit in decision.edits:
            plan.add(node, edit)
    _note_writers(world, report)
    _note_what_stays(world, report)
    if world.facts.imports.imports_numpy or helpers or plan:
        plan_imports(world, plan, helpers, shared_module)
    return helpers


def _place(facts: Facts, node: cst.CSTNode) -> tuple[int, int, tuple[int, int]]:
    return (1, 1, (1, 1)) if type(node) is cst.Module else facts.place(node)


def _note_writers(world: World, report: Report) -> None:
    """Report the functions that return more than before: calls in other files must take the new result."""
    for summary in world.summaries:
        if summary.writes and isinstance(summary.node, cst.FunctionDef):
            names = ", ".join(sorted(summary.writes))
            place = world.facts.place(summary.node)
            report.add("NP2TF609", *place, name=summary.node.name.value, parameters=names)


def _note_what_stays(world: World, report: Report) -> None:
    """Report the functions, classes and operations that stay on NumPy, each reason once."""
    borders, facts = world.program.borders, world.facts
    if not facts.imports.imports_numpy:
        return
    told: dict[tuple[str, str], Cause] = {}
    counts: dict[tuple[str, str], int] = {}
    explained = set(switched_off(facts.module))  # by the comment
    for cause in borders.causes:
        if cause.file != world.file:
            continue
        around = _staying(cause.node, world)
        if around is not None:
            explained.add(around)
        reason = codes()[cause.code].message.format_map(dict(cause.words)) if cause.words else ""
        key = (_name_of(around), reason)
        told.setdefault(key, cause)
        counts[key] = counts.get(key, 0) + 1
    for (name, reason), cause in told.items():
        more = f" (and {counts[name, reason] - 1} more)" if counts[name, reason] > 1 else ""
        report.add("NP2TF611", *_place(facts, cause.node), name=name, reason=reason + more)
    definitions: list[cst.FunctionDef | cst.ClassDef] = [
        *facts.nodes(cst.FunctionDef),
        *facts.nodes(cst.ClassDef),
    ]
    for node in definitions:
        if borders.has("statement", node) and node not in explained:
            reason = "code that stays on NumPy uses it"
            report.add("NP2TF611", *_place(facts, node), name=_name_of(node), reason=reason)
    _note_parameters_that_stay(world, report)


def _note_parameters_that_stay(world: World, report: Report) -> None:
    """Report the parameters for which callers elsewhere must give arrays."""
    for summary in world.summaries:
        function = summary.node
        if not isinstance(function, cst.FunctionDef) or not is_open(summary) or _staying(function, world):
            continue
        names = [
            f"`{name}`"
            for name, value in summary.parameters.items()
            if value.may_be_tensor and holds_host(function, name, world.program.borders)
        ]
        if names:
            name = f"{', '.join(names)} of {_name_of(function)}"
            reason = "callers elsewhere give arrays, not tensors"
            report.add("NP2TF611", *_place(world.facts, function), name=name, reason=reason)


def _staying(node: cst.CSTNode, world: World) -> cst.FunctionDef | cst.ClassDef | None:
    """Return the function or class around a node whose text does not change."""
    for up in (node, *world.facts.parents.above(node)):
        if isinstance(up, (cst.FunctionDef, cst.ClassDef)) and world.program.borders.has("statement", up):
            return up
    return None


def _name_of(node: cst.FunctionDef | cst.ClassDef | None) -> str:
    return "an operation" if node is None else f"`{node.name.value}`"
