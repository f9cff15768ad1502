"""What a statement does with the result of a call: gives it to a target, returns it, or drops it."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

from np2tf.staging.host.raising.expressions import is_raised
from np2tf.staging.host.raising.helpers import CannotRaise, if_statement
from np2tf.staging.host.raising.scope import Context, Scope
from np2tf.staging.host.raising.writes import write_of


class End:
    """The end of a statement, whose value is a call.

    Attributes:
        target: where the result goes; None if it is returned or dropped.
        returns: whether it is returned.
    """

    def __init__(self, target: ast.expr | None, returns: bool) -> None:
        self.target, self.returns = target, returns

    @property
    def names(self) -> list[str]:
        """The names that get the result or its items; none if other targets get a part of it."""
        targets = [self.target] if self.target is not None else []
        if isinstance(self.target, (ast.Tuple, ast.List)):
            targets = self.target.elts
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        return names if len(names) == len(targets) == len(set(names)) else []

    def items(self, number: int) -> list[ast.expr] | None:
        """Return the targets of so many items; None if the result goes to one target."""
        if not isinstance(self.target, (ast.Tuple, ast.List)):
            return None
        if len(self.target.elts) != number or any(isinstance(part, ast.Starred) for part in self.target.elts):
            raise CannotRaise
        return self.target.elts

    def give(self, value: ast.expr | None, scope: Scope, context: Context, place: ast.AST) -> list[ast.stmt]:
        """Return the statements that do with a value what is done with the result."""
        if value is None:
            value = ast.copy_location(ast.Constant(None), place)
        if isinstance(value, ast.IfExp) and is_raised(value) and _is_better_apart(value, self, scope):
            then = self.give(value.body, scope, context, place)
            otherwise = self.give(value.orelse, scope, context, place)
            return [if_statement(value.test, then, otherwise, value)]
        write = write_of(value, scope)
        if write is not None:
            before, value = write.statements(scope, context)
            return [*before, *self.give(value, scope, context, place)]
        if self.returns:
            return [ast.copy_location(ast.Return(scope.meanings.undefined(value)), place)]
        if self.target is None:
            return _only_evaluated(value, context)
        return self._assigned(value, scope, context, place)

    def _assigned(self, value: ast.expr, scope: Scope, context: Context, place: ast.AST) -> list[ast.stmt]:
        assert self.target is not None
        if isinstance(self.target, ast.Tuple) and isinstance(value, ast.Tuple) and self.names:
            targets, values = self.target.elts, value.elts
            if len(targets) == len(values) and not any(isinstance(part, ast.Starred) for part in values):
                return scope.assign_all(targets, values, context.bound, place)
        name = value.id if isinstance(value, ast.Name) else ""
        if isinstance(self.target, ast.Name) and self.target.id == name and scope.is_local(name):
            return scope.read(name, context, place)
        value = scope.meanings.undefined(value)
        return [ast.copy_location(ast.Assign([copy.deepcopy(self.target)], value), place)]


def end_of(statement: ast.stmt) -> End | None:
    """Return the end of a statement that may be raised; None of others."""
    if isinstance(statement, ast.Return):
        return End(None, returns=True)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return End(statement.targets[0], returns=False)
    return End(None, returns=False) if isinstance(statement, ast.Expr) else None


def _only_evaluated(value: ast.expr, context: Context) -> list[ast.stmt]:
    """Return the statement that evaluates an expression; none if that does nothing."""
    parts: Sequence[ast.expr] = value.elts if isinstance(value, ast.Tuple) else [value]
    if all(
        isinstance(part, ast.Constant) or (isinstance(part, ast.Name) and part.id in context.bound)
        for part in parts
    ):
        return []
    return [ast.copy_location(ast.Expr(value), value)]


def _is_better_apart(value: ast.IfExp, end: End, scope: Scope) -> bool:
    """Return whether a conditional expression has a branch that does nothing or writes, so that an `if` is
    shorter.
    """
    for branch in (value.body, value.orelse):
        if isinstance(branch, ast.IfExp) and is_raised(branch):
            if _is_better_apart(branch, end, scope):
                return True
        elif write_of(branch, scope) is not None:
            return True
        parts = branch.elts if isinstance(branch, ast.Tuple) else [branch]
        names = [part.id if isinstance(part, ast.Name) else None for part in parts]
        if end.names and any(name == target for name, target in zip(names, end.names, strict=False)):
            return True
        if end.target is None and not end.returns and isinstance(branch, ast.Constant):
            return True
    return False
