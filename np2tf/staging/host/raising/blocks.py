"""Raises the statements of a function: loops, branches and writes for calls of np2tf's operators."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from np2tf.staging.host.raising.branches import raise_branches
from np2tf.staging.host.raising.ends import End, end_of
from np2tf.staging.host.raising.expressions import is_raised
from np2tf.staging.host.raising.helpers import CannotRaise
from np2tf.staging.host.raising.loops import raise_for, raise_map, raise_while
from np2tf.staging.host.raising.meanings import Meanings
from np2tf.staging.host.raising.roles import Roles
from np2tf.staging.host.raising.scope import Context, Scope
from np2tf.staging.host.raising.trees import walk
from np2tf.staging.host.raising.writes import write_of

_Construct = Callable[[ast.Call, Mapping[str, ast.FunctionDef], End, Scope, Context], list[ast.stmt]]
#: The operators that run helpers, and the functions that return the statements in the place of a call.
_CONSTRUCTS: dict[str, _Construct] = {
    "for_loop": raise_for,
    "while_loop": raise_while,
    "map_loop": raise_map,
    "cond": raise_branches,
    "case": raise_branches,
}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def raise_function(
    function: ast.FunctionDef, meanings: Meanings, roles: Roles, numbers: Iterator[int]
) -> None:
    """Raise a function in its place: first the functions inside it, which the program cannot keep.

    Args:
        numbers: the numbers of new names.
    """
    blocks = _Blocks(Scope(function, meanings, roles, numbers))
    function.body = blocks.block(function.body, is_guarded=False)


class _Blocks:
    """The blocks of one function."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def block(self, statements: Sequence[ast.stmt], is_guarded: bool) -> list[ast.stmt]:
        """Return the statements of a block, raised."""
        out: list[ast.stmt] = []
        scope = self._scope
        for statement in statements:
            context = Context(scope.assigned.before.get(id(statement), frozenset()), is_guarded)
            if isinstance(statement, _FUNCTIONS):
                if isinstance(statement, ast.FunctionDef) and not scope.roles.may_leave(statement):
                    raise_function(statement, scope.meanings, scope.roles, scope.numbers)
                out.append(statement)
                continue
            self._raise_inside(statement, is_guarded)
            out += self._raised(statement, out, context)
        return out

    def _raise_inside(self, node: ast.AST, is_guarded: bool) -> None:
        """Raise the expressions of a statement and the blocks inside it."""
        expressions = self._scope.expressions
        is_guarded = is_guarded or not isinstance(node, (ast.If, ast.For, ast.While))
        for field, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, field, expressions.visit(value))
            elif isinstance(value, list) and value:
                if isinstance(value[0], ast.stmt):
                    setattr(node, field, self.block(value, is_guarded))
                elif isinstance(value[0], ast.expr):
                    setattr(node, field, [expressions.visit(part) for part in value])
                elif isinstance(value[0], (ast.ExceptHandler, ast.match_case, ast.withitem)):
                    for part in value:
                        self._raise_inside(part, is_guarded)

    def _raised(self, statement: ast.stmt, above: list[ast.stmt], context: Context) -> list[ast.stmt]:
        """Return the statements in the place of one; drop the helpers above that are not needed any more."""
        end = end_of(statement)
        value = getattr(statement, "value", None)
        if end is None or value is None:
            return [statement]
        construct = _CONSTRUCTS.get(self._scope.meanings.called(value))
        if construct is not None:
            helpers = self._helpers(above)
            try:
                new = construct(value, helpers, end, self._scope, context)
            except CannotRaise:
                return [statement]
            names = {part.id for part in walk(value) if isinstance(part, ast.Name)}
            for name, helper in helpers.items():
                if name in names:
                    above.remove(helper)
            return new
        is_for_apart = write_of(value, self._scope) is not None
        is_for_apart |= isinstance(value, ast.IfExp) and is_raised(value)
        is_for_apart |= self._scope.meanings.called(value) == "undefined"
        return end.give(value, self._scope, context, statement) if is_for_apart else [statement]

    def _helpers(self, above: Sequence[ast.stmt]) -> dict[str, ast.FunctionDef]:
        """Return the helpers right above a statement."""
        found: dict[str, ast.FunctionDef] = {}
        for statement in reversed(above):
            if not isinstance(statement, ast.FunctionDef):
                break
            if id(statement) in self._scope.roles.helpers:
                found.setdefault(statement.name, statement)
        return found
