"""Raises `np2tf.cond` and `case`, whose branches are helpers, to `if`."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from np2tf.staging.host.raising.ends import End
from np2tf.staging.host.raising.helpers import CannotRaise, Helper, if_statement, leaves
from np2tf.staging.host.raising.scope import Context, Scope
from np2tf.staging.host.raising.trees import walk

#: Expressions whose values are no functions, which `case` would call.
_VALUES = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.Constant)
#: What a test consists of that computes with names and numbers alone.
_PLAIN = (*_VALUES, ast.Name, ast.BinOp)


def raise_branches(
    call: ast.Call, helpers: Mapping[str, ast.FunctionDef], end: End, scope: Scope, context: Context
) -> list[ast.stmt]:
    """Return the statements in the place of ``end = np2tf.cond(test, then, otherwise, *operands)``."""
    tests, functions, operands = _parts(call, scope)
    branches = [Helper(_function(function, helpers), scope) for function in functions]
    if any(len(branch.parameters) != len(operands) for branch in branches):
        raise CannotRaise
    if not all(isinstance(operand, (ast.Name, ast.Constant)) for operand in operands):
        raise CannotRaise
    for branch in branches:
        branch.ending_in(lambda value, place: [])  # which refuses before anything is changed
    before: list[ast.stmt] = []
    for operand in operands:
        if isinstance(operand, ast.Name) and scope.is_local(operand.id):
            before += scope.read(operand.id, context, operand)
    blocks = [_block(branch, operands, end, scope, context) for branch in branches]
    *tested, block = blocks
    for test, then in reversed(list(zip(tests, tested, strict=True))):
        block = [if_statement(test, then, block, call)]
    if end.returns and not leaves(block):
        block.append(ast.copy_location(ast.Return(None), call))
    return [*before, *block]


def _parts(call: ast.Call, scope: Scope) -> tuple[list[ast.expr], list[ast.expr], list[ast.expr]]:
    """Return the tests, one function more than tests, and the operands."""
    if scope.meanings.called(call) == "cond":
        if call.keywords or len(call.args) < 3:
            raise CannotRaise
        test, then, otherwise, *operands = call.args
        return [test], [then, otherwise], [scope.meanings.undefined(operand) for operand in operands]
    values = {keyword.arg: keyword.value for keyword in call.keywords}
    if len(call.args) == 1 and values.keys() == {"default"}:
        pairs, default, operands = call.args[0], values["default"], []
    elif len(call.args) > 1 and not values:
        pairs, default, *operands = call.args
    else:
        raise CannotRaise
    tests: list[ast.expr] = []
    functions: list[ast.expr] = []
    for pair in pairs.elts if isinstance(pairs, ast.List) else ():
        if not isinstance(pair, ast.Tuple) or len(pair.elts) != 2:
            raise CannotRaise
        tests.append(_test(pair.elts[0], tests[0] if tests else None))
        functions.append(pair.elts[1])
    if not tests:
        raise CannotRaise
    return tests, [*functions, default], [scope.meanings.undefined(operand) for operand in operands]


def _test(node: ast.expr, first: ast.expr | None) -> ast.expr:
    """Return the test of a branch of `case`; the tests behind the first are functions without parameters, or
    compare only what the first test has computed with, so that it does not matter when.
    """
    if isinstance(node, ast.Lambda):
        if ast.unparse(node.args) or any(isinstance(part, ast.NamedExpr) for part in walk(node.body)):
            raise CannotRaise
        return node.body
    if not isinstance(node, _VALUES):
        raise CannotRaise
    if first is not None:
        parts = list(walk(node))
        known = {part.id for part in walk(first) if isinstance(part, ast.Name)}
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        if not names <= known or not all(isinstance(part, _PLAIN) for part in parts):
            raise CannotRaise
    return node


def _function(node: ast.expr, helpers: Mapping[str, ast.FunctionDef]) -> ast.AST:
    if isinstance(node, ast.Lambda):
        return node
    if isinstance(node, ast.Name) and node.id in helpers:
        return helpers[node.id]
    raise CannotRaise


def _block(
    branch: Helper, operands: list[ast.expr], end: End, scope: Scope, context: Context
) -> list[ast.stmt]:
    """Return the statements of one branch."""
    names: dict[str, str] = {}
    copies: list[tuple[str, ast.expr]] = []
    bound = set(context.bound)
    for parameter, operand in zip(branch.parameters, operands, strict=True):
        name = operand.id if isinstance(operand, ast.Name) else ""
        if name and _may_share(branch, parameter, name, operands, end, scope, context):
            names[parameter] = name
            bound.add(name)
        else:
            names[parameter] = scope.kept(parameter)
            copies.append((names[parameter], operand))
    for name in sorted(branch.bound - names.keys()):
        names[name] = scope.kept(name)
    branch.rename(names)
    inner = Context(frozenset(bound | {name for name, _ in copies}), context.is_guarded)
    before = [scope.bind(name, ast.copy_location(_same(value), value)) for name, value in copies]
    return [*before, *branch.ending_in(lambda value, place: end.give(value, scope, inner, place))]


def _same(value: ast.expr) -> ast.expr:
    return ast.Name(value.id, ast.Load()) if isinstance(value, ast.Name) else ast.Constant(value.value)  # type: ignore[attr-defined]


def _may_share(
    branch: Helper,
    parameter: str,
    name: str,
    operands: list[ast.expr],
    end: End,
    scope: Scope,
    context: Context,
) -> bool:
    """Return whether a branch's parameter can be the name that it is called with: the branch does not bind it
    again, or what it binds goes to this name anyway, or the function ends there.
    """
    is_once = sum(isinstance(operand, ast.Name) and operand.id == name for operand in operands) == 1
    if not scope.is_steady(name) or not is_once or (name != parameter and name in branch.free):
        return False
    if parameter not in branch.written:
        return True
    return (end.returns or name in end.names) and scope.may_hold(name, context)
