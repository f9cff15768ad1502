"""Lowers `for i in range(n): out[i] = …` to `np2tf.map_loop(range, value_i, out)` if the iterations are
independent.

The proof uses only the text: each iteration writes its own element, and names that no other iteration sees.
`map_loop` checks at run time what the text cannot show: two names for one array, and effects of callees.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

import libcst as cst

from np2tf.facts.dataflow.liveness import loop_head
from np2tf.facts.dataflow.reads_writes import Names, bound_targets
from np2tf.rewrites.control.common.layout import (
    blank,
    call,
    code,
    comment_of,
    footer_of,
    helper,
    line,
    statements_of,
)
from np2tf.rewrites.control.common.lowers import Lowers
from np2tf.rewrites.control.common.scope import Scope
from np2tf.tree.templates import Statement
from np2tf.tree.walk import walk


@dataclass(frozen=True)
class MapLoop:
    """A loop with independent iterations: the array, the statements before the write, and the written
    value.
    """

    out: str
    before: list[Statement]
    value: cst.BaseExpression
    last: cst.SimpleStatementLine


def map_loop(node: cst.For, live: Names) -> MapLoop | None:
    """Return the parts of a loop whose iterations are proven independent; `live` are the names read after
    it.
    """
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
    return value if is_whole else value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def lower(lowering: Lowers, node: cst.For, map_loop: MapLoop, scope: Scope) -> list[Statement]:
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
    name = lowering.naming.name(f"value_{item}" if item != "_" else "value")
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
