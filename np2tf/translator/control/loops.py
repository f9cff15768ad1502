"""Lowers `while` and `for` to `while_loop`, `for_loop`, or `map_loop` if iterations are independent."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from np2tf.core import rules
from np2tf.translator.control.construct import StatementConstruct
from np2tf.translator.control.jumps import is_true
from np2tf.translator.control.layout import (
    Naming,
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
    state_of,
    statements_of,
    with_footer,
)
from np2tf.translator.control.scope import CannotLower, Scope
from np2tf.translator.facts.dataflow import Names, block, bound_targets, loop_head, reads, writes
from np2tf.translator.tree.nodes import walk
from np2tf.translator.tree.templates import Statement, parenthesize

if TYPE_CHECKING:
    from np2tf.translator.control.decide import Decider
    from np2tf.translator.control.lower import Lowering

# -- while  --------------------------------------------------------------------------------------------------
# Lowers `while` to `state = np2tf.while_loop(keep_going, step, state)`.


def is_while_lowered(judge: Decider, node: cst.While) -> bool:
    """Return whether the test may be an array's value, or changes; CannotLower if nothing ends the loop."""
    static = judge.static(node.test)
    variables = reads(node.test) & writes(block(node.body))
    jumps = any(type(part) in (cst.Break, cst.Return) for part in walk(node))
    if static and not variables and not jumps:
        if is_true(node.test):
            # Only an exception could end such a loop, so tracing the loop would never end.
            raise CannotLower("NP2TF301", node, kind="while", reason="neither break nor return")
        return False
    if static and judge.reason(node) is not None:
        return False
    judge.check(node)
    return True


def lower_while(
    lowering: Lowering, node: cst.While, live: Names, scope: Scope, tail: bool
) -> list[Statement]:
    """Return the helpers and the call for a `while`."""
    body = statements_of(node)
    naming, closures = lowering.naming, lowering.closures
    caller = closures.rebinding_function(node.test)
    if caller is not None:
        raise CannotLower(
            "NP2TF301", node, kind="while", reason=f"`{caller}`, which rebinds names, in its test"
        )
    variables = closures.written_names(node, body, scope)
    shared_names = closures.shared_names(node, [node.test, *body], variables, scope)
    inside = closures.shared_names(node, body, variables, scope)
    head = loop_head(node, live) | closures.kept_names(body, scope) | frozenset(shared_names)
    state = [name for name in variables if name in head]
    closures.check_leaving(node, variables, state)
    values = [scope.value(name) for name in state]
    inner = scope.helper(body, state)
    step_body = lowering.scope_body(body, head, inner, tail=False)
    keep_going, step = naming.around(("keep_going", "step"), step_body)
    test_names = closures.shared_names(node, [node.test], variables, scope)
    test = [*rebind_parameters(state, test_names, naming), _return(node.test)]
    params = rename_parameters(state, test_names, naming)
    again = helper(keep_going, params, test, node.leading_lines, comment_of(node.body), scope.room)
    step_body = [*rebind_parameters(state, inside, naming), *step_body]
    params = rename_parameters(state, inside, naming)
    once = _step(scope, step, params, step_body, state, footer_of(node))
    arguments = [keep_going, step, *state_of(values)]
    text = call(assignment_target(state), "np2tf.while_loop", arguments, scope.depth, scope.width)
    return [again, once, line(text, blank())]


def _step(
    scope: Scope,
    name: str,
    params: Sequence[str],
    body: Sequence[Statement],
    state: Sequence[str],
    footer: Sequence[cst.EmptyLine],
    leading_lines: Sequence[cst.EmptyLine] = (),
    header: cst.TrailingWhitespace | None = None,
) -> cst.FunctionDef:
    """Return the helper for one iteration; the comments at the end of the loop stand above its return."""
    end = return_statement(state, footer)
    function = helper(name, params, [*body, *end], leading_lines, header, scope.room)
    return with_footer(function, () if end else footer)


def _return(test: cst.BaseExpression) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Return(test)])


#: The row of `constructs.py`.
WHILE = {cst.While: StatementConstruct(is_while_lowered, lower_while)}


# -- independent ---------------------------------------------------------------------------------------------
# Lowers `for i in range(n): out[i] = …` to `np2tf.map_loop(range, value_i, out)` if the iterations are
# independent.
#
# The proof uses only the text: each iteration writes its own element, and names that no other iteration
# sees. `map_loop` checks at run time what the text cannot show: two names for one array, and effects of
# callees.


@dataclass(frozen=True)
class MapLoop:
    """A loop with independent iterations: the array, the statements before the write, the value written."""

    out: str
    before: list[Statement]
    value: cst.BaseExpression
    last: cst.SimpleStatementLine


def map_loop(node: cst.For, live: Names) -> MapLoop | None:
    """Return the parts of a loop proven independent; `live` are the names read after it."""
    if type(node.target) is not cst.Name or node.orelse is not None or not _is_range(node.iter):
        return None
    body = statements_of(node)
    before, last = body[:-1], body[-1]
    store = _store(last, node.target.value)
    if store is None or type(last) is not cst.SimpleStatementLine:
        return None
    out, value = store
    body_names = [name for statement in before for name in _assigned_names(statement)]
    if None in body_names or {node.target.value, out} & set(body_names) or node.target.value in live:
        return None
    seen_outside = (loop_head(node, live) - {out}) | live
    if seen_outside & {*body_names, node.target.value} or _mentions([*before, value, node.iter], out):
        return None
    return MapLoop(out, before, value, last)


def _on_lines(value: cst.BaseExpression) -> cst.BaseExpression:
    """Return a value as a statement may have it: in parentheses if it goes over several lines."""
    text = code(value)
    try:
        is_whole = "\n" not in text or bool(ast.parse(text, mode="eval"))
    except SyntaxError:
        is_whole = False
    return value if is_whole else parenthesize(value)


def lower_map_loop(lowering: Lowering, node: cst.For, map_loop: MapLoop, scope: Scope) -> list[Statement]:
    """Return the helper that computes one element, and the call that fills the array."""
    (item,) = bound_targets(node.target)
    result = cst.SimpleStatementLine(
        [cst.Return(_on_lines(map_loop.value))],
        leading_lines=[*map_loop.last.leading_lines, *footer_of(node)],
        trailing_whitespace=map_loop.last.trailing_whitespace,
    )
    body: list[Statement] = [*map_loop.before, result]
    inner = scope.helper(body, [item])
    statements = lowering.scope_body(body, frozenset(), inner, tail=True)
    (name,) = lowering.naming.around((f"value_{item}" if item != "_" else "value",), statements)
    function = helper(name, [item], statements, node.leading_lines, comment_of(node.body))
    arguments = [code(node.iter), name, scope.value(map_loop.out)]
    statement = line(
        call(f"{map_loop.out} = ", "np2tf.map_loop", arguments, scope.depth, scope.width), blank()
    )
    return [function, statement]


def _is_range(node: cst.BaseExpression) -> bool:
    """Return whether a call is `range(…)`, or np2tf's version of it."""
    if type(node) is not cst.Call:
        return False
    name = node.func.attr if type(node.func) is cst.Attribute else node.func
    return type(name) is cst.Name and name.value == "range"


def _store(statement: cst.CSTNode, index: str) -> tuple[str, cst.BaseExpression] | None:
    """Return the array and the value of `out[i] = value`, also as `out = tnp.at(out)[i].set(value)`."""
    if type(statement) is not cst.SimpleStatementLine or len(statement.body) != 1:
        return None
    assign = statement.body[0]
    if type(assign) is not cst.Assign or len(assign.targets) != 1:
        return None
    target, value = assign.targets[0].target, assign.value
    if type(target) is cst.Subscript and type(target.value) is cst.Name:
        return (target.value.value, value) if _is_at(target, index) else None
    if type(target) is not cst.Name or type(value) is not cst.Call or len(value.args) != 1:
        return None
    place = value.func.value if type(value.func) is cst.Attribute and value.func.attr.value == "set" else None
    if type(place) is not cst.Subscript or not _is_at(place, index):
        return None
    at = place.value
    is_at = type(at) is cst.Call and type(at.func) is cst.Attribute and at.func.attr.value == "at"
    return (target.value, value.args[0].value) if is_at and code(at) == f"tnp.at({target.value})" else None


def _is_at(node: cst.Subscript, index: str) -> bool:
    key = node.slice[0].slice if len(node.slice) == 1 else None
    return type(key) is cst.Index and type(key.value) is cst.Name and key.value.value == index


def _assigned_names(statement: cst.CSTNode) -> list[str | None]:
    """Return the names that plain assignments bind; None in the place of any other target or statement."""
    if type(statement) is not cst.SimpleStatementLine:
        return [None]
    names: list[str | None] = []
    for small in statement.body:
        targets = (
            [assign_target.target for assign_target in small.targets] if type(small) is cst.Assign else [None]
        )
        names += [
            assign_target.value if type(assign_target) is cst.Name else None for assign_target in targets
        ]
    return names


def _mentions(nodes: list[cst.CSTNode], name: str) -> bool:
    return any(
        type(inner_node) is cst.Name and inner_node.value == name
        for node in nodes
        for inner_node in walk(node)
    )


# -- for  ----------------------------------------------------------------------------------------------------
# Lowers `for` to `state = np2tf.for_loop(iterable, step_i, state)`, or to `out = np2tf.map_loop(…)`.


def is_for_lowered(judge: Decider, node: cst.For) -> bool:
    """Return whether the loop may run over an array or many numbers; CannotLower if it cannot be lowered."""
    if judge.stays_plain(node) or node.asynchronous is not None or not _only_names(node.target):
        return False
    if not judge.may_iterate(node.iter) or _is_over_objects(node):
        return False
    if judge.reason(node) is None:
        return True
    if judge.is_long_range(node.iter):
        judge.check(node)  # unrolled, it would become a graph as long as the range
    return False


def _is_over_objects(node: cst.For) -> bool:
    """Return whether the items have attributes that arrays lack, and nothing leaves the loop early."""
    if type(node.target) is not cst.Name:
        return False
    parts = list(walk(node.body))
    if any(isinstance(part, (cst.Break, cst.Continue, cst.Return)) for part in parts):
        return False
    attributes = (
        part.attr.value
        for part in parts
        if type(part) is cst.Attribute
        and type(part.value) is cst.Name
        and part.value.value == node.target.value
    )
    return any(rules.find(f"numpy.ndarray.{name}") is None for name in attributes)


def _only_names(target: cst.BaseExpression) -> bool:
    if type(target) is cst.Tuple:
        return all(type(element) is cst.Element and _only_names(element.value) for element in target.elements)
    return type(target) is cst.Name


def lower_for(lowering: Lowering, node: cst.For, live: Names, scope: Scope, tail: bool) -> list[Statement]:
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
        return lower_map_loop(lowering, node, independent_loop, scope)
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
    (step,) = naming.around([f"step_{item}" if single and item != "_" else "step"], step_body)

    out: list[Statement] = []
    arguments = [code(node.iter), step, *state_of(values)]
    leading_lines = node.leading_lines
    if stop is not None:
        (keep_going,) = naming.around(["keep_going"], step_body)
        test = [line(f"return np2tf.not_({stop})")]
        out.append(helper(keep_going, state, test, leading_lines, room=scope.room))
        arguments.append(f"keep_going={keep_going}")
        leading_lines = ()
    step_body = [*rebind_parameters(params, shared_names, naming), *step_body]
    params = rename_parameters(params, shared_names, naming)
    out.append(
        _step(scope, step, params, step_body, state, footer_of(node), leading_lines, comment_of(node.body))
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


#: The row of `constructs.py`.
FOR = {cst.For: StatementConstruct(is_for_lowered, lower_for)}
