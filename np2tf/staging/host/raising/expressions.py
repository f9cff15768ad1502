"""Raises expressions: `a if t else b` for `np2tf.cond(t, lambda: a, lambda: b)`, `a and b`, builtins, NumPy's
functions, comprehensions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from np2tf.core.operators import OPERATORS
from np2tf.staging.host.raising.meanings import Meanings
from np2tf.staging.host.raising.names import FUNCTIONS, Names, captured, parameters
from np2tf.staging.host.raising.trees import walk

#: Operators whose meaning in Python is one function, which takes their place.
_FUNCTIONS = frozenset(
    name for name, operator in OPERATORS.items() if operator.python.startswith("builtins:")
)
#: Functions that use up an iterable before they return, and call what they are given only until then.
IMMEDIATE = ("sum", "min", "max", "any", "all", "list", "tuple", "set", "sorted")


class Expressions(ast.NodeTransformer):
    """Raises the expressions of one scope; changes the nodes.

    Args:
        is_left: whether a function inside is to stay as it is, because the program may keep it and call it
            when there are tensors.
    """

    def __init__(self, meanings: Meanings, is_left: Callable[[ast.AST], bool]) -> None:
        self._meanings = meanings
        self._is_left = is_left
        self._raise: dict[str, Callable[[ast.Call], ast.expr | None]] = {
            "cond": self._cond,
            "and_": self._and_or,
            "or_": self._and_or,
            "not_": self._not,
            "is_": self._is,
            "percent": self._percent,
            "call": self._only_argument,
            "context": self._only_argument,
            "on_host": self._only_argument,
            "list_of": self._list_of,
        }

    def visit(self, node: ast.AST) -> Any:
        """Raise a node, unless it is a function that stays as it is."""
        if isinstance(node, (*FUNCTIONS, ast.GeneratorExp, ast.ClassDef)) and self._is_left(node):
            return node
        return super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Leave a function, whose statements are not this scope's."""
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Raise `tnp.pi` and `np2tf.math.sqrt`."""
        if self._meanings.operator(node) == "math":
            return self._meanings.python("math", node)
        return self._meanings.numpy(node, is_called=False) or self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Raise a call of an operator, or of a function of `tnp`."""
        name = self._meanings.called(node)
        if name == "undefined":
            return node
        function = self._meanings.numpy(node.func, is_called=True)
        if function is not None:
            node.func = function
        elif not name:
            node.func = self.visit(node.func)
        node.args = [self.visit(arg) for arg in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        if name in _FUNCTIONS:
            node.func = self._meanings.python(name, node.func)
            return node
        new = self._raise[name](node) if name in self._raise else None
        return node if new is None else ast.copy_location(new, node)

    # -- operators -------------------------------------------------------------------------------------------

    def _cond(self, node: ast.Call) -> ast.expr | None:
        values = self._arguments(node, 3)
        then, otherwise = map(_value_of, values[1:]) if values else (None, None)
        if then is None or otherwise is None:
            return None
        new = ast.IfExp(values[0], then, otherwise)
        mark_raised(new)
        return new

    def _and_or(self, node: ast.Call) -> ast.expr | None:
        values = self._arguments(node, 2)
        right = _value_of(values[1]) if values else None
        if right is None:
            return None
        operator = ast.And() if self._meanings.operator(node.func) == "and_" else ast.Or()
        first = values[0]
        if isinstance(first, ast.BoolOp) and type(first.op) is type(operator) and is_raised(first):
            new = ast.BoolOp(operator, [*first.values, right])
        else:
            new = ast.BoolOp(operator, [first, right])
        mark_raised(new)
        return new

    def _not(self, node: ast.Call) -> ast.expr | None:
        values = self._arguments(node, 1)
        return ast.UnaryOp(ast.Not(), values[0]) if values else None

    def _is(self, node: ast.Call) -> ast.expr | None:
        values = self._arguments(node, 2)
        return ast.Compare(values[0], [ast.Is()], [values[1]]) if values else None

    def _percent(self, node: ast.Call) -> ast.expr | None:
        values = self._arguments(node, 2)
        return ast.BinOp(values[0], ast.Mod(), values[1]) if values else None

    def _only_argument(self, node: ast.Call) -> ast.expr | None:
        values = self._arguments(node, 1)
        return values[0] if values else None

    def _arguments(self, node: ast.Call, number: int) -> list[ast.expr]:
        """Return the arguments of a call with so many; none if it has others."""
        return [] if node.keywords or len(node.args) != number else node.args

    def _list_of(self, node: ast.Call) -> ast.expr | None:
        where = node.args[2:] + [keyword.value for keyword in node.keywords if keyword.arg == "where"]
        if len(node.args) < 2 or len(where) > 1 or len(node.keywords) > 1:
            return None
        lambdas = [node.args[0], *where]
        names = [plain_parameters(part) for part in lambdas]
        if names[0] is None or not names[0] or any(other != names[0] for other in names):
            return None
        if any(captured(part, self._keeps) & Names(part).bound for part in lambdas):
            return None
        if any(isinstance(part, ast.NamedExpr) for of in lambdas for part in walk(of)):
            return None
        targets: list[ast.expr] = [ast.copy_location(ast.Name(name, ast.Store()), node) for name in names[0]]
        if len(targets) > 1 and not self._gives_tuples(node.args[1], len(targets)):
            return None  # Python's error for items of another length would be a different one
        target = targets[0] if len(targets) == 1 else ast.copy_location(ast.Tuple(targets, ast.Store()), node)
        element, *tests = (part.body for part in lambdas)  # type: ignore[attr-defined]
        return ast.ListComp(element, [ast.comprehension(target, node.args[1], tests, 0)])

    def _keeps(self, scope: ast.AST) -> bool:
        return isinstance(scope, (*FUNCTIONS, ast.GeneratorExp, ast.ClassDef))

    def _gives_tuples(self, iterable: ast.expr, number: int) -> bool:
        """Return whether an iterable is `zip` or `enumerate` with items of this length."""
        if not isinstance(iterable, ast.Call) or iterable.keywords:
            return False
        if any(isinstance(arg, ast.Starred) for arg in iterable.args):
            return False
        if self._meanings.is_builtin(iterable.func, "zip"):
            return len(iterable.args) == number
        return number == 2 and self._meanings.is_builtin(iterable.func, "enumerate")


def mark_raised(node: ast.AST) -> None:
    """Record that an expression stands for a call of an operator."""
    node._is_raised = True  # type: ignore[attr-defined]


def is_raised(node: ast.AST) -> bool:
    """Return whether an expression stands for a call of an operator."""
    return getattr(node, "_is_raised", False)


def _value_of(branch: ast.expr) -> ast.expr | None:
    """Return the body of a lambda without parameters; None of other branches."""
    if plain_parameters(branch) != []:
        return None
    assert isinstance(branch, ast.Lambda)
    # A lambda's `:=` binds a name of its own.
    return None if any(isinstance(part, ast.NamedExpr) for part in walk(branch.body)) else branch.body


def plain_parameters(node: ast.AST) -> list[str] | None:
    """Return the parameters of a function without defaults, `*` or `/`; None for anything else."""
    if not isinstance(node, (ast.Lambda, ast.FunctionDef)):
        return None
    arguments = node.args
    if arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return None
    return None if arguments.defaults else parameters(arguments)
