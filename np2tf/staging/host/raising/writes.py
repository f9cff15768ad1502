"""Raises writes: `x[k] = v` for `x = tnp.at(x)[k].set(v)`, `x[k] += v`, `x.sort()`."""

from __future__ import annotations

import ast

from np2tf.arrays.front.at import METHODS, UPDATES
from np2tf.staging.host.raising.scope import Context, Scope
from np2tf.staging.host.raising.trees import walk

#: The operator of each update of `tnp.at`, which does ``x[k] = iadd(x[k], v)`` as Python does for ``+=``.
_OPERATORS: dict[str, ast.operator] = {
    "add": ast.Add(),
    "subtract": ast.Sub(),
    "multiply": ast.Mult(),
    "divide": ast.Div(),
    "floor_divide": ast.FloorDiv(),
    "remainder": ast.Mod(),
    "power": ast.Pow(),
    "matmul": ast.MatMult(),
    "bitwise_and": ast.BitAnd(),
    "bitwise_or": ast.BitOr(),
    "bitwise_xor": ast.BitXor(),
    "left_shift": ast.LShift(),
    "right_shift": ast.RShift(),
}
assert _OPERATORS.keys() == UPDATES.keys()


class Write:
    """A call such as `tnp.at(x)[k].set(v)` or `tnp.at(x).sort()`.

    Attributes:
        base: the expression x.
        key: the expression k; None for a method of x.
    """

    def __init__(self, call: ast.Call, method: str, base: ast.expr, key: ast.expr | None) -> None:
        self.call, self.method, self.base, self.key = call, method, base, key

    def statements(self, scope: Scope, context: Context) -> tuple[list[ast.stmt], ast.expr]:
        """Return the statements that write, and the expression of the container that was written to.

        They evaluate x, k and v in this order where one of them may change another.
        """
        before: list[ast.stmt] = []
        base = self.base
        if not (isinstance(base, ast.Name) and scope.is_steady(base.id)):
            base = self._held(base, before, scope)
        assert isinstance(base, ast.Name)
        result = ast.copy_location(ast.Name(base.id, ast.Load()), base)
        if self.key is None:
            function = ast.copy_location(ast.Attribute(base, self.method, ast.Load()), base)
            call = ast.copy_location(ast.Call(function, self.call.args, self.call.keywords), self.call)
            return [*before, ast.copy_location(ast.Expr(call), self.call)], result
        value, key = self.call.args[0], self.key
        has_effects = not scope.meanings.is_pure(value) or not scope.meanings.is_pure(key)
        if has_effects:
            key = self._steady_key(key, before, scope)
        place = ast.copy_location(ast.Subscript(base, key, ast.Store()), self.call)
        if self.method == "set":
            write: ast.stmt = ast.Assign([place], value)
        else:
            # Python reads x[k] before it evaluates v.
            value = self._held(value, before, scope) if has_effects else value
            write = ast.AugAssign(place, _OPERATORS[self.method], value)
        return [*before, ast.copy_location(write, self.call)], result

    def _held(self, value: ast.expr, before: list[ast.stmt], scope: Scope) -> ast.expr:
        """Return a name for a value, which is evaluated before."""
        name = scope.fresh("value")
        before.append(scope.bind(name, value))
        return ast.copy_location(ast.Name(name, ast.Load()), value)

    def _steady_key(self, key: ast.expr, before: list[ast.stmt], scope: Scope) -> ast.expr:
        """Return a key whose parts are evaluated before, where their values may change."""
        if isinstance(key, ast.Tuple):
            parts = [self._steady_key(part, before, scope) for part in key.elts]
            return ast.copy_location(ast.Tuple(parts, ast.Load()), key)
        if isinstance(key, ast.Slice):
            ends = (
                None if end is None else self._steady_key(end, before, scope)
                for end in (key.lower, key.upper, key.step)
            )
            return ast.copy_location(ast.Slice(*ends), key)
        number = key.operand if isinstance(key, ast.UnaryOp) else key
        is_known = isinstance(key, ast.Name) and scope.is_steady(key.id) and not self._binds(key.id)
        return key if is_known or isinstance(number, ast.Constant) else self._held(key, before, scope)

    def _binds(self, name: str) -> bool:
        """Return whether the call binds a name by `:=`."""
        return any(isinstance(part, ast.NamedExpr) and part.target.id == name for part in walk(self.call))


def write_of(node: ast.AST | None, scope: Scope) -> Write | None:
    """Return the write that an expression is; None if it is none, or its form has no known meaning."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    method, place = node.func.attr, node.func.value
    if isinstance(place, ast.Subscript):
        base = scope.meanings.target_of_at(place.value)
        is_one = len(node.args) == 1 and not node.keywords and not isinstance(node.args[0], ast.Starred)
        if base is None or not is_one or (method != "set" and method not in UPDATES):
            return None
        if any(isinstance(part, ast.Starred) for part in walk(place.slice)):
            return None
        return Write(node, method, base, place.slice) if not _rebinds(node, base) else None
    base = scope.meanings.target_of_at(place)
    if base is None or method not in METHODS or _rebinds(node, base):
        return None
    return Write(node, method, base, None)


def _rebinds(call: ast.Call, base: ast.expr) -> bool:
    """Return whether a part of the call binds the name of the container by `:=`."""
    name = base.id if isinstance(base, ast.Name) else None
    return any(isinstance(part, ast.NamedExpr) and part.target.id == name for part in walk(call))
