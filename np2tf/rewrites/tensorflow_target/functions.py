"""Follows the module and its functions in rounds, until a round finds no new fact (a fixed point)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import libcst as cst

from np2tf.facts import Facts
from np2tf.facts.dataflow.liveness import Jumps, inner_blocks, live_before, live_when_left
from np2tf.facts.dataflow.reads_writes import NO_NAMES, Names, block, free_names, reads
from np2tf.rewrites.tensorflow_target.calls import parameter_names
from np2tf.rewrites.tensorflow_target.model.shared_names import shared_names
from np2tf.rewrites.tensorflow_target.model.values import Value, join, plain, unknown
from np2tf.rewrites.tensorflow_target.model.world import Frame, Summary, World
from np2tf.rewrites.tensorflow_target.returned_writes import end_with_return, inline_call
from np2tf.rewrites.tensorflow_target.statements import run
from np2tf.rewrites.tensorflow_target.writes import may_write
from np2tf.tree.walk import walk

#: Modules settle in a few rounds; a module that does not settle is refused.
_ROUNDS = 30


def follow_module(facts: Facts) -> World:
    """Follow a module until its facts do not change any more, and return them."""
    world = World(facts)
    world.shared_owners = shared_names(facts)
    world.on_inline_write = lambda node, functions, frame: inline_call(node, functions, frame, may_write)
    for _ in range(_ROUNDS):
        world.changed = False
        _round(world)
        if not world.changed and not _open_up(world):
            return world
    world.refuse(facts.module, "NP2TF603", what="a module whose values do not settle")
    return world


def _round(world: World) -> None:
    module = world.facts.module
    run(module.body, Frame(world, None, {}, {}, NO_NAMES))
    for summary in list(world.summaries.values()):
        if type(summary.node) is cst.FunctionDef and _is_known(summary):
            _follow(summary, summary.node, world)


def _is_known(summary: Summary) -> bool:
    """Return whether every parameter has a value from a call or from its default."""
    return all(name in summary.parameters for name in parameter_names(summary.node))


def _open_up(world: World) -> bool:
    """Let the parameters that no call in the module has set be anything: other modules may call the
    function. Return whether there was such a parameter.
    """
    found = False
    for summary in world.summaries.values():
        function = summary.node
        for name in parameter_names(function):
            if name not in summary.parameters or (
                summary.is_value and not summary.parameters[name].may("any")
            ):
                root = ("param", function, name)
                value = summary.parameters.get(name)
                summary.parameters[name] = join(value, unknown(root, certain=False)) or unknown(root)
                found = True
    return found


def _follow(summary: Summary, function: cst.FunctionDef, world: World) -> None:
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
    frame = Frame(world, function, env, _live_behind(body), _read_by_others(body))
    for name, value in env.items():
        frame.bind(name, value)
    world.forget(function.body)
    is_reachable = run(body, frame)
    if is_reachable:
        result = join(summary.result, plain("none"))
        world.changed |= result != summary.result
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
            world.refuse(function.body, "NP2TF604", name=name, other="memory of others")
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
