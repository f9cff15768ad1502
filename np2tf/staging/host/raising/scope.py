"""One function whose statements are raised: the names that are free for use in it, and small statements."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Sequence

from np2tf.staging.host.raising.assigned import Assigned
from np2tf.staging.host.raising.expressions import Expressions
from np2tf.staging.host.raising.meanings import Meanings
from np2tf.staging.host.raising.names import captured, parameters
from np2tf.staging.host.raising.roles import Roles


class Context:
    """What is known where a statement stands.

    Args:
        bound: the names that are certainly bound there.
        is_guarded: whether a `try` or `with` of the function may go on after an exception, and read names.
    """

    def __init__(self, bound: frozenset[str], is_guarded: bool) -> None:
        self.bound, self.is_guarded = bound, is_guarded


class Scope:
    """A function whose statements are raised.

    Attributes:
        names: its names, as it was converted.
        assigned: the names that are bound before each of its statements.
        expressions: raises its expressions.
    """

    def __init__(
        self, node: ast.FunctionDef, meanings: Meanings, roles: Roles, numbers: Iterator[int]
    ) -> None:
        self.meanings, self.roles, self.numbers = meanings, roles, numbers
        self.names = roles.names_of(node)
        self.assigned = Assigned(node.body, parameters(node.args), self.names.bound, roles.names_of)
        self.expressions = Expressions(meanings, roles.may_leave)
        self._captured = captured(node, roles.keeps_names, roles.names_of)
        self._used = {*self.names.bindings, *self.names.reads, *self.names.globals, *self.names.nonlocals}

    # -- names -------------------------------------------------------------------------------------------

    def is_steady(self, name: str) -> bool:
        """Return whether only the function's own statements bind a name: no call does, and no thread."""
        return name in self.names.bound and name not in self.names.rebound

    def may_hold(self, name: str, context: Context) -> bool:
        """Return whether a name may have the values of a helper's variable while the helper runs: nothing
        else sees them, neither an inner function nor code that goes on after an exception.
        """
        return self.is_steady(name) and name not in self._captured and not context.is_guarded

    def fresh(self, name: str) -> str:
        """Return a name that no program can write."""
        return f"{name.partition('.')[0]}.{next(self.numbers)}"

    def kept(self, name: str) -> str:
        """Return a helper's name, or a fresh one if the function uses it for something else."""
        new = self.fresh(name) if name in self._used else name
        self._used.add(new)
        return new

    # -- statements --------------------------------------------------------------------------------------

    def read(self, name: str, context: Context, place: ast.AST) -> list[ast.stmt]:
        """Return the statement that raises an error if a name is not bound; none if it certainly is."""
        if name in context.bound:
            return []
        value = ast.copy_location(ast.Name(name, ast.Load()), place)
        return [ast.copy_location(ast.Expr(value), place)]

    def bind(self, name: str, value: ast.expr) -> ast.stmt:
        """Return the statement that gives a name a value."""
        target = ast.copy_location(ast.Name(name, ast.Store()), value)
        return ast.copy_location(ast.Assign([target], self.meanings.undefined(value)), value)

    def bind_all(self, names: Sequence[str], values: Sequence[ast.expr], place: ast.AST) -> list[ast.stmt]:
        """Return the statement that gives names their values at once; none for those that keep theirs."""
        targets: list[ast.expr] = [ast.copy_location(ast.Name(name, ast.Store()), place) for name in names]
        return self.assign_all(targets, values, frozenset(names), place)

    def assign_all(
        self,
        targets: Sequence[ast.expr],
        values: Sequence[ast.expr],
        bound: frozenset[str],
        place: ast.AST,
    ) -> list[ast.stmt]:
        """Return the statements that give targets their values at once.

        Args:
            bound: the names that are certainly bound; giving such a name its own value does nothing.
        """
        pairs = [
            (target, self.meanings.undefined(value))
            for target, value in zip(targets, values, strict=True)
            if not (_is_same_name(target, value) and target.id in bound and self.is_local(target.id))  # type: ignore[attr-defined]
        ]
        if not pairs:
            return []
        if len(pairs) == 1:
            return [ast.copy_location(ast.Assign([copy.deepcopy(pairs[0][0])], pairs[0][1]), place)]
        left = ast.copy_location(ast.Tuple([copy.deepcopy(pair[0]) for pair in pairs], ast.Store()), place)
        right = ast.copy_location(ast.Tuple([pair[1] for pair in pairs], ast.Load()), place)
        return [ast.copy_location(ast.Assign([left], right), place)]

    def is_local(self, name: str) -> bool:
        """Return whether a name is no global that the function binds."""
        return name not in self.names.globals


def _is_same_name(target: ast.expr, value: ast.expr) -> bool:
    return isinstance(target, ast.Name) and isinstance(value, ast.Name) and target.id == value.id


def numbers() -> Iterator[int]:
    """Return the numbers of the fresh names of one function."""
    return itertools.count(1)
