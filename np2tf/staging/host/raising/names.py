"""The names that the scopes of a function bind, read, rebind and call, by its tree."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from np2tf.staging.host.raising.trees import parts, walk

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: The nodes that may bind a name as plain text.
_BINDING = (ast.alias, ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
#: The nodes that have names of their own.
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)


class Names:
    """The names of one scope.

    Args:
        scope: a node of `SCOPES`; its body is searched, and the functions inside it.
        names_of: returns the names of a scope inside it.

    Attributes:
        bindings: the names that it binds, with the number of times.
        reads: the names that it, or a function inside it, reads and does not bind.
        calls: those reads that only call the value.
        nonlocals, globals: the names that it declares so.
        rebound: the names that functions inside it declare nonlocal.
    """

    def __init__(self, scope: ast.AST, names_of: Callable[[ast.AST], Names] | None = None) -> None:
        self.bindings: Counter[str] = Counter()
        self.reads: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.nonlocals: set[str] = set()
        self.globals: set[str] = set()
        self.rebound: set[str] = set()
        self._scope, self._names_of = scope, names_of or Names
        if isinstance(scope, FUNCTIONS):
            self.bindings.update(parameters(scope.args))
        self._note(list(_inside(scope)))

    @property
    def bound(self) -> set[str]:
        """The names that belong to this scope; those of a class are not seen inside it, and so are none."""
        if isinstance(self._scope, ast.ClassDef):
            return set()
        of_outside = _walrus_targets(self._scope) if isinstance(self._scope, COMPREHENSIONS) else ()
        return self.bindings.keys() - self.globals - self.nonlocals - set(of_outside)

    @property
    def free(self) -> set[str]:
        """The names that it takes from outside: of functions around it, of the module, or builtins."""
        return (self.reads.keys() | self.nonlocals | self.globals) - self.bound

    def _note(self, nodes: list[ast.AST]) -> None:
        """Note the names of nodes, and of all nodes inside them."""
        while nodes:
            node = nodes.pop()
            if isinstance(node, ast.Name):
                counter = self.reads if isinstance(node.ctx, ast.Load) else self.bindings
                counter[node.id] += 1
                continue
            if isinstance(node, SCOPES):
                nodes += outside(node)
                self._enter(node)
                continue
            if isinstance(node, ast.Call):
                if isinstance(node.func, ast.Name):
                    self.calls[node.func.id] += 1
            elif isinstance(node, ast.Nonlocal):
                self.nonlocals.update(node.names)
            elif isinstance(node, ast.Global):
                self.globals.update(node.names)
            elif isinstance(node, _BINDING):
                self.bindings.update(bound_by(node))
            nodes += parts(node)

    def _enter(self, scope: ast.AST) -> None:
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self.bindings[scope.name] += 1
        inner = self._names_of(scope)
        for name in inner.free:
            self.reads[name] += inner.reads[name]
            self.calls[name] += inner.calls[name]
        self.rebound |= inner.nonlocals | inner.rebound - inner.bound
        if isinstance(scope, COMPREHENSIONS):
            self.bindings.update(_walrus_targets(scope))


class KnownNames:
    """The names of scopes that do not change meanwhile, each of which is searched once."""

    def __init__(self) -> None:
        self._names: dict[int, Names] = {}  # a scope lives as long as its names

    def of(self, scope: ast.AST) -> Names:
        """Return the names of a scope."""
        names = self._names.get(id(scope))
        if names is None:
            names = self._names[id(scope)] = Names(scope, self.of)
        return names


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    more = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    return [arg.arg for arg in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more)]


def bound_by(node: ast.AST) -> list[str]:
    """Return the names that a node binds as plain text: of imports, handlers and patterns."""
    if isinstance(node, ast.alias):
        return [node.asname or node.name.partition(".")[0]]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    return [node.rest] if isinstance(node, ast.MatchMapping) and node.rest else []


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that a scope evaluates itself."""
    if isinstance(scope, ast.Lambda):
        yield scope.body
    elif isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield from scope.body
    elif isinstance(scope, COMPREHENSIONS):
        for number, loop in enumerate(scope.generators):
            yield loop.target
            yield from [loop.iter] if number else []
            yield from loop.ifs
        yield from [scope.key, scope.value] if isinstance(scope, ast.DictComp) else [scope.elt]


def outside(scope: ast.AST) -> list[ast.AST]:
    """Return the nodes of a scope that the scope around it evaluates."""
    if isinstance(scope, COMPREHENSIONS):
        return [scope.generators[0].iter]
    if isinstance(scope, ast.ClassDef):
        return [*scope.decorator_list, *scope.bases, *(keyword.value for keyword in scope.keywords)]
    assert isinstance(scope, FUNCTIONS)
    found: list[ast.AST | None] = [*scope.args.defaults, *scope.args.kw_defaults]
    if not isinstance(scope, ast.Lambda):
        found += [*scope.decorator_list, scope.returns]
        every = (*scope.args.posonlyargs, *scope.args.args, *scope.args.kwonlyargs)
        found += [arg.annotation for arg in (*every, scope.args.vararg, scope.args.kwarg) if arg is not None]
    return [node for node in found if node is not None]


def _walrus_targets(scope: ast.AST) -> list[str]:
    """Return the names that `:=` inside a comprehension binds around it."""
    return [
        node.target.id
        for node in walk(scope)
        if isinstance(node, ast.NamedExpr) and isinstance(node.target, ast.Name)
    ]


def scopes_in(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the scopes directly inside a node."""
    stack = parts(node)[::-1]
    while stack:
        child = stack.pop()
        if isinstance(child, SCOPES):
            yield child
        else:
            stack += parts(child)[::-1]


def captured(
    scope: ast.AST, counts: Callable[[ast.AST], bool], names_of: Callable[[ast.AST], Names] = Names
) -> set[str]:
    """Return the names of a scope, and of the scopes around it, that functions inside it see.

    Args:
        counts: whether a function inside counts.
        names_of: returns the names of a scope.
    """
    found: set[str] = set()
    for inner in scopes_in(scope):
        names = names_of(inner)
        found |= captured(inner, counts, names_of) - names.bound
        if counts(inner):
            found |= names.free
    return found


class Renamed(ast.NodeTransformer):
    """Gives names of one scope other names, also where functions inside it see them; changes the nodes."""

    def __init__(self, new_names: Mapping[str, str]) -> None:
        self._new = {name: new for name, new in new_names.items() if name != new}

    def visit(self, node: ast.AST) -> Any:
        """Rename in a node."""
        if not self._new:
            return node
        if isinstance(node, SCOPES):
            return self._scope(node)
        if isinstance(node, ast.Name):
            node.id = self._new.get(node.id, node.id)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            node.name = self._new.get(node.name, node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            node.rest = self._new.get(node.rest, node.rest)
        elif isinstance(node, ast.alias) and (name := bound_by(node)[0]) in self._new:
            node.asname = self._new[name]
        elif isinstance(node, ast.Nonlocal):
            node.names = [self._new.get(name, name) for name in node.names]
        return self.generic_visit(node)

    def _scope(self, scope: ast.AST) -> ast.AST:
        own = Names(scope).bound
        if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            scope.name = self._new.get(scope.name, scope.name)
        inner = Renamed({name: new for name, new in self._new.items() if name not in own})
        around = outside(scope)
        inside = list(_inside(scope))
        for node in around:
            self.visit(node)
        for node in inside:
            inner.visit(node)
        return scope
