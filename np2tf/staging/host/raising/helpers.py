"""Helpers of an operator's call: whether their statements may stand in its place, and how they end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from np2tf.staging.host.raising.assigned import Assigned
from np2tf.staging.host.raising.expressions import plain_parameters
from np2tf.staging.host.raising.names import Names, Renamed, captured
from np2tf.staging.host.raising.roles import suspends
from np2tf.staging.host.raising.scope import Scope
from np2tf.staging.host.raising.trees import parts


class CannotRaise(Exception):
    """A call of an operator does not have the form whose meaning is proven; it stays."""


class Helper:
    """A function that one call of an operator runs, and whose statements can take the place of the call.

    Args:
        node: the function or lambda, whose own statements are raised already.
        scope: the function around it.

    Attributes:
        parameters: its parameters, in order.
        bound: the names of its own; all others belong to the functions around it.
        free: these other names.
        written: the parameters that it binds again.
        body: its statements.

    Raises:
        CannotRaise: if it has not the plain form of a helper, or if inner functions that may be called later
            see its names, or if a name may be read before it is bound, which is an error in a function.
    """

    def __init__(self, node: ast.AST, scope: Scope) -> None:
        parameters = plain_parameters(node)
        if parameters is None or suspends(node):
            raise CannotRaise
        names = Names(node)
        is_function = isinstance(node, ast.FunctionDef)
        is_here = names.nonlocals <= scope.names.bound | scope.names.nonlocals
        if names.globals or not is_here or (is_function and node.decorator_list):  # type: ignore[attr-defined]
            raise CannotRaise
        self.bound = names.bound
        self.free = names.free
        self.parameters: list[str] = parameters
        self.written = {name for name in parameters if names.bindings[name] > 1 or name in names.rebound}
        self.body: list[ast.stmt] = (
            [part for part in node.body if not isinstance(part, ast.Nonlocal)]  # type: ignore[attr-defined]
            if is_function
            else [ast.copy_location(ast.Return(node.body), node.body)]  # type: ignore[attr-defined]
        )
        if captured(node, scope.roles.may_leave) & self.bound or any(
            isinstance(part, (ast.ClassDef, ast.Nonlocal)) for part in _own_statements(self.body)
        ):
            raise CannotRaise
        if not Assigned(self.body, parameters, self.bound).is_certain:
            raise CannotRaise

    def rename(self, names: Mapping[str, str]) -> None:
        """Give its own names other names."""
        renamed = Renamed(names)
        for statement in self.body:
            renamed.visit(statement)

    def ending_in(self, end: Callable[[ast.expr | None, ast.AST], list[ast.stmt]]) -> list[ast.stmt]:
        """Return its statements, with ``end(value, place)`` in the place of each return.

        Raises:
            CannotRaise: if a return is not the last step on its path.
        """
        return _ending_in(self.body, end)


def _own_statements(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return the statements of a block and of the blocks inside it, without those of functions."""
    found: list[ast.stmt] = []
    stack: list[ast.AST] = list(block)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.stmt):
            found.append(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.expr)):
            stack += parts(node)
    return found


def _ending_in(
    block: Sequence[ast.stmt], end: Callable[[ast.expr | None, ast.AST], list[ast.stmt]]
) -> list[ast.stmt]:
    for number, statement in enumerate(block):
        behind = block[number + 1 :]
        if isinstance(statement, ast.Return):
            return [*block[:number], *end(statement.value, statement)]
        if isinstance(statement, ast.Raise):
            return list(block[: number + 1])
        if not any(isinstance(part, ast.Return) for part in _own_statements([statement])):
            continue
        if not isinstance(statement, ast.If):
            raise CannotRaise
        then, otherwise = statement.body, statement.orelse
        if behind and not leaves(then) and not leaves(otherwise):
            raise CannotRaise
        then = then if leaves(then) else [*then, *behind]
        otherwise = otherwise if leaves(otherwise) else [*otherwise, *behind]
        new = if_statement(statement.test, _ending_in(then, end), _ending_in(otherwise, end), statement)
        return [*block[:number], new]
    place = block[-1] if block else ast.Pass(lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)
    return [*block, *end(None, place)]


def leaves(block: Sequence[ast.stmt]) -> bool:
    """Return whether every path through a block ends in a return or an exception."""
    if not block:
        return False
    last = block[-1]
    if isinstance(last, ast.If):
        return leaves(last.body) and leaves(last.orelse)
    return isinstance(last, (ast.Return, ast.Raise))


def if_statement(test: ast.expr, then: list[ast.stmt], otherwise: list[ast.stmt], place: ast.AST) -> ast.stmt:
    """Return an `if` at the place of another node; without statements it only tests."""
    if not then and otherwise:
        test = ast.copy_location(ast.UnaryOp(ast.Not(), test), test)
        then, otherwise = otherwise, []
    return ast.copy_location(ast.If(test, then or [ast.copy_location(ast.Pass(), place)], otherwise), place)
