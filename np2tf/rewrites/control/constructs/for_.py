"""Lowers `for` to `state = np2tf.for_loop(iterable, step_i, state)`, or to `out = np2tf.map_loop(…)`."""

from __future__ import annotations

import libcst as cst

from np2tf.facts.dataflow.liveness import loop_head
from np2tf.facts.dataflow.reads_writes import Names, bound_targets
from np2tf.rewrites.control.common.construct import Judge, StatementConstruct
from np2tf.rewrites.control.common.layout import (
    assignment_target,
    blank,
    call,
    code,
    comment_of,
    footer_of,
    helper,
    line,
    rebind_parameters,
    rename_parameters,
    return_statement,
    statements_of,
    tuple_of,
)
from np2tf.rewrites.control.common.lowers import Lowers
from np2tf.rewrites.control.common.naming import Naming
from np2tf.rewrites.control.common.scope import Scope
from np2tf.rewrites.control.constructs import independent
from np2tf.rewrites.control.constructs.independent import map_loop
from np2tf.tree.templates import Statement


def is_lowered(judge: Judge, node: cst.For) -> bool:
    """Return whether the loop may run over an array or many numbers; CannotLower if it cannot be lowered."""
    if judge.stays_plain(node) or node.asynchronous is not None or not _only_names(node.target):
        return False
    if not judge.may_iterate(node.iter):
        return False
    if judge.reason(node) is None:
        return True
    if judge.is_long_range(node.iter):
        judge.check(node)  # unrolled, it would become a graph as long as the range
    return False


def _only_names(target: cst.BaseExpression) -> bool:
    if type(target) is cst.Tuple:
        return all(type(element) is cst.Element and _only_names(element.value) for element in target.elements)
    return type(target) is cst.Name


def lower(lowering: Lowers, node: cst.For, live: Names, scope: Scope, tail: bool) -> list[Statement]:
    """Return the helpers and the call for a `for`."""
    naming = lowering.naming
    body = statements_of(node)
    targets = bound_targets(node.target)
    closures = lowering.closures
    names = [*closures.written_names(node, body, scope), *(name for name in targets if name in scope.locals)]
    variables = dict.fromkeys(names)
    shared_names = closures.shared_names(node, body, list(variables), scope)
    independent_loop = map_loop(node, live) if node not in lowering.marks.stops and not shared_names else None
    if independent_loop is not None:
        lowering.marks.independent.add(lowering.marks.origin.get(node, node))
        return independent.lower(lowering, node, independent_loop, scope)
    live |= closures.kept_names(body, scope) | frozenset(shared_names)
    head = loop_head(node, live)
    stop = lowering.marks.stops.get(node)
    if stop is not None:
        head |= {stop}
    # Every iteration binds the target anew: its old value only matters behind the loop.
    state = [name for name in variables if name in (live if name in targets else head)]
    closures.check_leaving(node, list(variables), state)
    values = [scope.value(name) for name in state]

    single = type(node.target) is cst.Name
    item = targets[0] if single else naming.name("item")
    params = [item, *_parameters(state, targets, naming)]
    if not single:
        unpack = line(f"{code(node.target)} = {item}")
        body = [unpack, *body]
    inner = scope.helper(body, [item, *state])
    inner.bound_names |= frozenset(targets)
    step_body = lowering.scope_body(body, head | frozenset(state), inner, tail=False)
    step = naming.name(f"step_{item}" if single and item != "_" else "step")

    out: list[Statement] = []
    arguments = [code(node.iter), step, tuple_of(values)]
    leading_lines = node.leading_lines
    if stop is not None:
        keep_going = naming.name("keep_going")
        out.append(helper(keep_going, state, [line(f"return np2tf.not_({stop})")], leading_lines))
        arguments.append(f"keep_going={keep_going}")
        leading_lines = ()
    return_lines = return_statement(state, True, footer_of(node))
    above = rebind_parameters(params, shared_names, naming)
    params = rename_parameters(params, shared_names, naming)
    out.append(
        helper(step, params, [*above, *step_body, *return_lines], leading_lines, comment_of(node.body))
    )
    out.append(
        line(call(assignment_target(state), "np2tf.for_loop", arguments, scope.depth, scope.width), blank())
    )
    return out


def _parameters(state: list[str], targets: list[str], naming: Naming) -> list[str]:
    """Return the state as a helper's parameters. The target's value from the last iteration is not used."""
    old = [name for name in state if name in targets]
    placeholder = "_" if len(old) == 1 and not naming.is_taken("_") else None
    return [(placeholder or naming.name(f"last_{name}")) if name in old else name for name in state]


#: The row of `table.py`.
CONSTRUCTS = {cst.For: StatementConstruct(is_lowered, lower)}
