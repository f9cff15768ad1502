"""Which names are certainly bound before each statement, so that no value of an earlier round is read."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

from np2tf.staging.host.raising.names import SCOPES, Names, bound_by, outside
from np2tf.staging.host.raising.trees import parts, walk

#: Names that are bound; None behind a statement that control never passes.
Bound = frozenset[str] | None
#: The names of context managers that end no exception.
_PASSING_ON = frozenset({"errstate"})


class Assigned:
    """Follows the statements of one scope.

    Args:
        statements: the body.
        parameters: the names that are bound at its start.
        tracked: the scope's own names.
        names_of: returns the names of a scope inside it.

    Attributes:
        before: the id of each statement -> the tracked names that are certainly bound before it.
        is_certain: whether each read of a tracked name comes after a binding on every path.
    """

    def __init__(
        self,
        statements: Sequence[ast.stmt],
        parameters: Iterable[str],
        tracked: Iterable[str],
        names_of: Callable[[ast.AST], Names] = Names,
    ) -> None:
        self._names_of = names_of
        self.before: dict[int, frozenset[str]] = {}
        self.is_certain = True
        self._tracked = frozenset(tracked)
        self._block(statements, frozenset(parameters) & self._tracked)

    def _block(self, statements: Sequence[ast.stmt], bound: Bound) -> Bound:
        for statement in statements:
            # What is never reached reads nothing.
            reached = self._tracked if bound is None else bound
            self.before[id(statement)] = reached
            after = self._statement(statement, reached)
            bound = None if bound is None else after
        return bound

    def _statement(self, node: ast.stmt, bound: frozenset[str]) -> Bound:
        if isinstance(node, (ast.Return, ast.Raise)):
            self._expressions(node, bound)
            return None
        if isinstance(node, (ast.Break, ast.Continue)):
            return None
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            return self._assignment(node, bound)
        if isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While)):
            return self._branch_or_loop(node, bound)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            return self._with(node, bound)
        if isinstance(node, ast.Match):
            return self._match(node, bound)
        if hasattr(node, "handlers"):
            return self._try(node, bound)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for part in outside(node):
                bound = self._expression(part, bound)  # type: ignore[arg-type]
            self._require((self._names_of(node).free & self._tracked) - {node.name}, bound)
            return bound | {node.name}
        if isinstance(node, ast.Delete):
            bound = self._expressions(node, bound)
            names = {target.id for target in node.targets if isinstance(target, ast.Name)}
            self._require(names, bound)
            return bound - names
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return bound.union(*map(bound_by, node.names))
        return self._expressions(node, bound)

    # -- statements ------------------------------------------------------------------------------------------

    def _assignment(self, node: ast.Assign | ast.AugAssign | ast.AnnAssign, bound: frozenset[str]) -> Bound:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._require({node.target.id}, bound)
        if node.value is None:
            return bound
        bound = self._expression(node.value, bound)
        for target in targets:
            bound = self._bind(target, bound)
        return bound

    def _bind(self, target: ast.expr, bound: frozenset[str]) -> frozenset[str]:
        if isinstance(target, ast.Name):
            return bound | {target.id}
        return self._expressions(target, bound, binds=isinstance(target, (ast.Tuple, ast.List, ast.Starred)))

    def _branch_or_loop(
        self, node: ast.If | ast.For | ast.AsyncFor | ast.While, bound: frozenset[str]
    ) -> Bound:
        if isinstance(node, (ast.For, ast.AsyncFor)):
            bound = self._expression(node.iter, bound)
            self._block(node.body, self._bind(node.target, bound))
        else:
            bound = self._expression(node.test, bound)
            after = self._block(node.body, bound)
            if isinstance(node, ast.If):
                return _on_all_paths([after, self._block(node.orelse, bound)])
        self._block(node.orelse, bound)
        return bound

    def _with(self, node: ast.With | ast.AsyncWith, before: frozenset[str]) -> Bound:
        bound = before
        for item in node.items:
            bound = self._expression(item.context_expr, bound)
            bound = bound if item.optional_vars is None else self._bind(item.optional_vars, bound)
        after = self._block(node.body, bound)
        managers = [item.context_expr for item in node.items]
        return after if all(map(_passes_exceptions_on, managers)) else before

    def _try(self, node: ast.stmt, before: frozenset[str]) -> Bound:
        body, handlers, orelse, final = (
            getattr(node, field) for field in ("body", "handlers", "orelse", "finalbody")
        )
        after = self._block(body, before)
        ends: list[Bound] = [self._block(orelse, after) if orelse else after]
        for handler in handlers:
            if handler.type is not None:
                self._expression(handler.type, before)
            name = {handler.name} if handler.name else set()
            end = self._block(handler.body, before | name)
            ends.append(None if end is None else end - name)
        finally_bound = self._block(final, before)
        after = _on_all_paths(ends)
        return None if after is None or finally_bound is None else after | finally_bound

    def _match(self, node: ast.Match, bound: frozenset[str]) -> Bound:
        bound = self._expression(node.subject, bound)
        ends: list[Bound] = [bound]
        for case in node.cases:
            names = [name for part in walk(case.pattern) for name in bound_by(part)]
            inside = bound.union(names)
            if case.guard is not None:
                inside = self._expression(case.guard, inside)
            ends.append(self._block(case.body, inside))
        return _on_all_paths(ends)

    # -- expressions -----------------------------------------------------------------------------------------

    def _expressions(self, node: ast.AST, bound: frozenset[str], binds: bool = False) -> frozenset[str]:
        """Follow the expressions directly inside a node, in order."""
        for child in parts(node):
            if isinstance(child, ast.expr):
                bound = self._bind(child, bound) if binds else self._expression(child, bound)
            elif not isinstance(child, ast.stmt):
                bound = self._expressions(child, bound)
        return bound

    def _expression(self, node: ast.expr, bound: frozenset[str]) -> frozenset[str]:
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                self._require({node.id}, bound)
            return bound
        if isinstance(node, ast.NamedExpr):
            return self._bind(node.target, self._expression(node.value, bound))
        if isinstance(node, ast.BoolOp):
            bound = after = self._expression(node.values[0], bound)
            for value in node.values[1:]:
                bound = self._expression(value, bound)
            return after
        if isinstance(node, ast.Compare):
            bound = after = self._expressions(ast.Tuple([node.left, node.comparators[0]], ast.Load()), bound)
            for value in node.comparators[1:]:
                bound = self._expression(value, bound)
            return after
        if isinstance(node, ast.IfExp):
            bound = self._expression(node.test, bound)
            self._expression(node.body, bound)
            self._expression(node.orelse, bound)
            return bound
        if isinstance(node, SCOPES):
            for part in outside(node):
                bound = self._expression(part, bound)  # type: ignore[arg-type]
            self._require(self._names_of(node).free & self._tracked, bound)
            return bound
        return self._expressions(node, bound)

    def _require(self, names: Iterable[str], bound: frozenset[str]) -> None:
        if not self._tracked.intersection(names) <= bound:
            self.is_certain = False


def _passes_exceptions_on(manager: ast.expr) -> bool:
    return (
        isinstance(manager, ast.Call)
        and isinstance(manager.func, ast.Attribute)
        and manager.func.attr in _PASSING_ON
    )


def _on_all_paths(ends: Sequence[Bound]) -> Bound:
    reached = [end for end in ends if end is not None]
    return reduce(frozenset.intersection, reached) if reached else None
