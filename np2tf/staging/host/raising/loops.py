"""Raises `np2tf.for_loop`, `np2tf.while_loop` and `np2tf.map_loop`, whose steps are helpers, to loops."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from np2tf.staging.host.raising.ends import End
from np2tf.staging.host.raising.helpers import CannotRaise, Helper
from np2tf.staging.host.raising.scope import Context, Scope
from np2tf.staging.host.raising.trees import walk

Helpers = Mapping[str, ast.FunctionDef]


def raise_for(call: ast.Call, helpers: Helpers, end: End, scope: Scope, context: Context) -> list[ast.stmt]:
    """Return the statements in the place of ``end = np2tf.for_loop(iterable, step, state, keep_going=…)``."""
    given = _arguments(call, ("iterable", "step", "state", "keep_going"))
    step = Helper(_helper(given, "step", helpers), scope)
    loop = _Loop(step, 1, given.get("state"), end, scope, context)
    if "keep_going" in given:
        loop.test_by(Helper(_helper(given, "keep_going", helpers), scope))
    item = scope.kept(step.parameters[0])
    iterable, before = loop.prepare(given["iterable"], {step.parameters[0]: item})
    test = [_break_unless(part) for part in loop.test] if loop.test else []
    target = ast.copy_location(ast.Name(item, ast.Store()), iterable)
    body = [*loop.before_test, *test, *loop.body()] or [ast.copy_location(ast.Pass(), call)]
    return [*before, ast.copy_location(ast.For(target, iterable, body, []), call), *loop.after(call)]


def raise_while(call: ast.Call, helpers: Helpers, end: End, scope: Scope, context: Context) -> list[ast.stmt]:
    """Return the statements in the place of ``end = np2tf.while_loop(keep_going, step, state)``."""
    given = _arguments(call, ("keep_going", "step", "state"))
    step = Helper(_helper(given, "step", helpers), scope)
    loop = _Loop(step, 0, given.get("state"), end, scope, context)
    loop.test_by(Helper(_helper(given, "keep_going", helpers), scope))
    _, before = loop.prepare(None, {})
    (test,) = loop.test
    body = loop.body()
    if loop.before_test:
        body = [*loop.before_test, _break_unless(test), *body]
        test = ast.copy_location(ast.Constant(True), call)
    body = body or [ast.copy_location(ast.Pass(), call)]
    return [*before, ast.copy_location(ast.While(test, body, []), call), *loop.after(call)]


def raise_map(call: ast.Call, helpers: Helpers, end: End, scope: Scope, context: Context) -> list[ast.stmt]:
    """Return the statements in the place of ``out = np2tf.map_loop(iterable, value, out)``."""
    given = _arguments(call, ("iterable", "value", "out"))
    value = Helper(_helper(given, "value", helpers), scope)
    out = given.get("out")
    if len(value.parameters) != 1 or value.written or not isinstance(out, ast.Name):
        raise CannotRaise
    if not scope.is_steady(out.id) or _binds_by_walrus(given["iterable"]):
        raise CannotRaise
    value.ending_in(lambda result, place: [])
    names = {name: scope.kept(name) for name in sorted(value.bound)}
    value.rename(names)
    (item,) = (names[name] for name in value.parameters)

    def store(result: ast.expr | None, place: ast.AST) -> list[ast.stmt]:
        key = ast.copy_location(ast.Name(item, ast.Load()), place)
        container = ast.copy_location(ast.Name(out.id, ast.Load()), place)
        target = ast.copy_location(ast.Subscript(container, key, ast.Store()), place)
        result = result or ast.copy_location(ast.Constant(None), place)
        return [ast.copy_location(ast.Assign([target], result), place)]

    target = ast.copy_location(ast.Name(item, ast.Store()), call)
    loop = ast.copy_location(ast.For(target, given["iterable"], value.ending_in(store), []), call)
    before = scope.read(out.id, context, out)
    return [
        *before,
        loop,
        *end.give(ast.copy_location(ast.Name(out.id, ast.Load()), call), scope, context, call),
    ]


class _Loop:
    """The variables of a loop: what they are called, what they are before, in and behind the loop.

    Args:
        before: the number of the step's parameters that are no variables.
        state: the argument of the operator's call.

    Attributes:
        test: the expression that is true as long as the loop goes on; none if only its items end it.
        before_test: the statements before the test.
    """

    def __init__(
        self, step: Helper, before: int, state: ast.expr | None, end: End, scope: Scope, context: Context
    ) -> None:
        self.step, self.end, self.scope, self.context = step, end, scope, context
        self._variables = step.parameters[before:]
        if len(step.parameters) < before:
            raise CannotRaise
        self._is_one = len(self._variables) == 1
        self._inits = self._initial_values(state)
        self._names: list[str] = []
        self._keep_going: Helper | None = None
        self.test: list[ast.expr] = []
        self.before_test: list[ast.stmt] = []
        step.ending_in(self._new_values)  # which refuses before anything is changed

    def _initial_values(self, state: ast.expr | None) -> list[ast.expr]:
        number = len(self._variables)
        if state is None or (isinstance(state, ast.Tuple) and not state.elts):
            if number or self.end.target is not None or self.end.returns:
                raise CannotRaise
            return []
        if self._is_one:
            return [self.scope.meanings.undefined(state)]
        if not isinstance(state, ast.Tuple) or len(state.elts) != number:
            raise CannotRaise
        if any(isinstance(value, ast.Starred) for value in state.elts):
            raise CannotRaise
        return [self.scope.meanings.undefined(value) for value in state.elts]

    def _items(self, value: ast.expr | None, place: ast.AST) -> list[ast.expr]:
        """Return the variables' new values, from what a step returns."""
        if not self._variables:
            if value is None or (isinstance(value, ast.Tuple) and not value.elts):
                return []
            raise CannotRaise
        if self._is_one:
            return [value or ast.copy_location(ast.Constant(None), place)]
        if not isinstance(value, ast.Tuple) or len(value.elts) != len(self._variables):
            raise CannotRaise
        if any(isinstance(item, ast.Starred) for item in value.elts):
            raise CannotRaise
        return value.elts

    def _new_values(self, value: ast.expr | None, place: ast.AST) -> list[ast.stmt]:
        """Return the statements at the end of a step, given what it returns."""
        items = self._items(value, place)
        return self.scope.bind_all(self._names, items, place) if self._names else []

    def test_by(self, keep_going: Helper) -> None:
        """Let a helper decide whether the loop goes on."""
        if len(keep_going.parameters) != len(self._variables) or keep_going.written:
            raise CannotRaise
        if not keep_going.body or not isinstance(keep_going.body[-1], ast.Return):
            raise CannotRaise
        if keep_going.body[-1].value is None:
            raise CannotRaise
        if any(isinstance(part, ast.Return) for other in keep_going.body[:-1] for part in walk(other)):
            raise CannotRaise
        self._keep_going = keep_going

    def prepare(self, iterable: ast.expr | None, items: Mapping[str, str]) -> tuple[ast.expr, list[ast.stmt]]:
        """Name the variables; return the iterable and the statements before the loop."""
        scope, step = self.scope, self.step
        self._names = self._named()
        names = {**items, **dict(zip(self._variables, self._names, strict=True))}
        step.rename(names | {name: scope.kept(name) for name in sorted(step.bound - names.keys())})
        if self._keep_going is not None:
            self._rename_test(self._keep_going)
        before: list[ast.stmt] = []
        pairs = list(zip(self._names, self._inits, strict=True))
        for name, init in pairs:
            if isinstance(init, ast.Name) and init.id == name:
                before += scope.read(name, self.context, init)
        changed = [name for name, init in pairs if not (isinstance(init, ast.Name) and init.id == name)]
        are_plain = all(isinstance(init, (ast.Name, ast.Constant)) for init in self._inits)
        if iterable is not None and (
            _binds_by_walrus(iterable) or not are_plain or _reads(iterable, changed)
        ):
            held = scope.fresh("items")
            before.insert(0, scope.bind(held, iterable))
            iterable = ast.copy_location(ast.Name(held, ast.Load()), iterable)
        place = self._inits[0] if self._inits else ast.Pass(lineno=1, col_offset=0)
        before += scope.bind_all(self._names, self._inits, place)
        return iterable or ast.Constant(None), before

    def _named(self) -> list[str]:
        """Return the names of the variables: those of their targets, if nothing else sees these meanwhile."""
        targets = self._targets()
        free = self.step.free | (self._keep_going.free if self._keep_going else set())
        names = []
        for variable, target in zip(self._variables, targets, strict=True):
            name = target.id if isinstance(target, ast.Name) else ""
            is_once = sum(isinstance(other, ast.Name) and other.id == name for other in targets) == 1
            may_hold = is_once and name not in free and self.scope.may_hold(name, self.context)
            names.append(name if may_hold else self.scope.kept(variable))
        return names

    def _targets(self) -> list[ast.expr | None]:
        if self._is_one and self.end.target is not None:
            return [self.end.target]
        number = len(self._variables)
        items = self.end.items(number)
        return [None] * number if items is None else list(items)

    def _rename_test(self, keep_going: Helper) -> None:
        names = dict(zip(keep_going.parameters, self._names, strict=True))
        others = sorted(keep_going.bound - names.keys())
        keep_going.rename(names | {name: self.scope.kept(name) for name in others})
        *self.before_test, last = keep_going.body
        assert isinstance(last, ast.Return)
        assert last.value is not None
        self.test = [last.value]

    def body(self) -> list[ast.stmt]:
        """Return the statements of one iteration, behind the test."""
        return self.step.ending_in(self._new_values)

    def after(self, place: ast.AST) -> list[ast.stmt]:
        """Return the statements that give the result to its target."""
        if self.end.target is None and not self.end.returns:
            return []
        values: list[ast.expr] = [
            ast.copy_location(ast.Name(name, ast.Load()), place) for name in self._names
        ]
        value = values[0] if self._is_one else ast.copy_location(ast.Tuple(values, ast.Load()), place)
        context = Context(self.context.bound | set(self._names), self.context.is_guarded)
        return self.end.give(value, self.scope, context, place)


def _arguments(call: ast.Call, names: tuple[str, ...]) -> dict[str, ast.expr]:
    """Return the arguments of a call by the names of the parameters."""
    if len(call.args) > len(names):
        raise CannotRaise
    given = dict(zip(names, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in names or keyword.arg in given:
            raise CannotRaise
        given[keyword.arg] = keyword.value
    if not set(names[:2]) <= given.keys():
        raise CannotRaise
    return given


def _helper(given: Mapping[str, ast.expr], name: str, helpers: Helpers) -> ast.FunctionDef:
    value = given[name]
    if not isinstance(value, ast.Name) or value.id not in helpers:
        raise CannotRaise
    return helpers[value.id]


def _break_unless(test: ast.expr) -> ast.stmt:
    """Return ``if not test: break``."""
    leave: list[ast.stmt] = [ast.copy_location(ast.Break(), test)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return ast.copy_location(ast.If(test.operand, leave, []), test)
    return ast.copy_location(ast.If(ast.copy_location(ast.UnaryOp(ast.Not(), test), test), leave, []), test)


def _binds_by_walrus(node: ast.AST) -> bool:
    return any(isinstance(part, ast.NamedExpr) for part in walk(node))


def _reads(node: ast.AST, names: list[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in walk(node))
