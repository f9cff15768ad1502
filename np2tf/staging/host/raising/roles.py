"""What the functions inside a function are for: helpers of one operator's call, functions that are only
called, functions that the program may keep.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence

from np2tf.staging.host.raising.expressions import IMMEDIATE
from np2tf.staging.host.raising.meanings import Meanings
from np2tf.staging.host.raising.names import FUNCTIONS, SCOPES, KnownNames, captured
from np2tf.staging.host.raising.trees import parts, walk

#: The operators that call functions, and the positions and names of the arguments that are functions.
_CALLERS: dict[str, tuple[tuple[int, ...], tuple[str, ...]]] = {
    "cond": ((1, 2), ("then", "otherwise")),
    "case": ((0, 1), ("branches", "default")),
    "and_": ((1,), ("right",)),
    "or_": ((1,), ("right",)),
    "list_of": ((0, 2), ("element", "where")),
    "for_loop": ((1, 3), ("step", "keep_going")),
    "while_loop": ((0, 1), ("keep_going", "step")),
    "map_loop": ((1,), ("value",)),
}


class Roles:
    """The roles of all functions inside a function, by the ids of their nodes.

    Attributes:
        names_of: returns the names of a scope, as they are before the function is raised.
        helpers: functions that one call of an operator gets, in the statement behind them, and nothing else.
    """

    def __init__(self, function: ast.FunctionDef, meanings: Meanings, known: KnownNames) -> None:
        self.helpers: set[int] = set()
        self.names_of = known.of
        self._only_called: set[int] = set()
        self._immediate: set[int] = set()
        self._meanings = meanings
        nodes = list(walk(function))
        self._functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
        for inner in self._functions:
            self._look_into(inner)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._immediate.update(map(id, self._called_at_once(node)))
        while self._only_called and self._drop_seen():
            pass

    def keeps_names(self, scope: ast.AST) -> bool:
        """Return whether names that a function sees must stay apart from those of other runs of the code
        around it: all but helpers, the operators' lambdas, and comprehensions.
        """
        is_function = isinstance(scope, (*FUNCTIONS, ast.GeneratorExp, ast.ClassDef))
        return is_function and id(scope) not in self.helpers and id(scope) not in self._immediate

    def may_leave(self, scope: ast.AST) -> bool:
        """Return whether the program may keep a function, and call it later or somewhere else."""
        return self.keeps_names(scope) and id(scope) not in self._only_called

    def _called_at_once(self, call: ast.Call) -> Iterator[ast.AST]:
        """Yield the functions that a call runs only before it returns: operators' lambdas, and generators."""
        is_join = isinstance(call.func, ast.Attribute) and call.func.attr == "join"
        is_join = is_join and isinstance(call.func.value, ast.Constant)  # type: ignore[attr-defined]
        is_immediate = self._meanings.is_builtin(call.func, *IMMEDIATE)
        if is_join or is_immediate or self._meanings.called(call) in IMMEDIATE:
            yield from (arg for arg in call.args[:1] if isinstance(arg, ast.GeneratorExp))
        yield from (part for part in self._functions_of(call) if isinstance(part, ast.Lambda))

    def _functions_of(self, call: ast.AST) -> Iterator[ast.expr]:
        """Yield the functions that a call gives to an operator, which calls them before it returns."""
        positions, names = _CALLERS.get(self._meanings.called(call), ((), ()))
        if positions:
            assert isinstance(call, ast.Call)
            values = [arg for position, arg in enumerate(call.args) if position in positions]
            values += [keyword.value for keyword in call.keywords if keyword.arg in names]
            for value in values:
                pairs = value.elts if isinstance(value, ast.List) else [value]
                for pair in pairs:
                    yield from pair.elts if isinstance(pair, ast.Tuple) else [pair]

    def _look_into(self, function: ast.FunctionDef) -> None:
        names = self.names_of(function)
        pairs: Counter[str] = Counter()
        found: list[ast.FunctionDef] = []
        for block in blocks_of(function.body):
            for helper in self._helpers_in(block):
                pairs[helper.name] += 1
                found.append(helper)
        declared = names.nonlocals | names.globals
        self.helpers |= {
            id(helper)
            for helper in found
            if pairs[helper.name] == names.reads[helper.name] == names.bindings[helper.name]
            and helper.name not in declared
        }
        for block in blocks_of(function.body):
            for node in block:
                if isinstance(node, ast.FunctionDef) and _is_plain(node):
                    name = node.name
                    once = names.bindings[name] == 1 and name not in declared | names.rebound
                    if once and names.reads[name] == names.calls[name]:
                        self._only_called.add(id(node))

    def _drop_seen(self) -> bool:
        """Drop the functions that are only called, but by functions that the program may keep.

        Returns:
            Whether there were some.
        """
        found = set()
        for function in self._functions:
            seen = captured(function, self.may_leave, self.names_of)
            for block in blocks_of(function.body):
                found |= {id(node) for node in block if getattr(node, "name", None) in seen}
        found &= self._only_called
        self._only_called -= found
        return bool(found)

    def _helpers_in(self, block: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef]:
        """Yield the functions of a block that the statement behind them gives to an operator."""
        above: dict[str, ast.FunctionDef] = {}
        for statement in block:
            if isinstance(statement, ast.FunctionDef):
                above[statement.name] = statement
                continue
            for part in self._functions_of(getattr(statement, "value", statement)):
                if isinstance(part, ast.Name) and part.id in above:
                    yield above.pop(part.id)
            above = {}


def blocks_of(block: Sequence[ast.stmt]) -> Iterator[Sequence[ast.stmt]]:
    """Yield a block and the blocks inside it that belong to the same scope."""
    yield block
    for statement in block:
        if not isinstance(statement, SCOPES):
            for inner in blocks_in(statement):
                yield from blocks_of(inner)


def blocks_in(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks directly inside a compound statement, also those of its handlers and cases."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value:
            if isinstance(value[0], ast.stmt):
                yield value
            elif isinstance(value[0], (ast.ExceptHandler, ast.match_case)):
                for part in value:
                    yield part.body


def _is_plain(function: ast.FunctionDef) -> bool:
    return not function.decorator_list and not suspends(function)


def suspends(function: ast.AST) -> bool:
    """Return whether a function is a generator or awaits something."""
    stack = parts(function)
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)):
            return True
        if not isinstance(node, FUNCTIONS):
            stack += parts(node)
    return False
