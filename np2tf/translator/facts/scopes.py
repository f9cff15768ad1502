"""Where each name is bound and each node evaluated, and which attributes a method sets on `self`."""

from __future__ import annotations

import builtins
import keyword
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from np2tf.translator.tree.nodes import Parents, children, dotted_name, first_parameter, target_names, walk

# -- scopes --------------------------------------------------------------------------------------------------
# Scopes: where each name is bound, and in which scope each node is evaluated.
#
# The analysis is one pass. It follows Python's rules for defaults, decorators, comprehensions, class
# bodies, walrus, `global` and `nonlocal`.

Comprehension = (cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)


@dataclass(eq=False)
class Scope:
    """One namespace: a module, function, lambda, class body or comprehension."""

    node: cst.CSTNode
    parent: Scope | None = None
    bindings: dict[str, list[cst.CSTNode]] = field(default_factory=dict)
    """Name -> the nodes that bind it here: Name, Param, ImportAlias, FunctionDef, ClassDef, ExceptHandler
    …"""
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    loads: set[str] = field(default_factory=set)
    """Names read or written directly in this scope."""
    children: list[Scope] = field(default_factory=list)

    @property
    def is_function(self) -> bool:
        """True for the scope of a def or a lambda."""
        return type(self.node) in (cst.FunctionDef, cst.Lambda)

    @property
    def is_class(self) -> bool:
        """True for the scope of a class body."""
        return type(self.node) is cst.ClassDef

    @property
    def is_module(self) -> bool:
        """True for the scope of the module."""
        return self.parent is None

    @property
    def locals(self) -> set[str]:
        """The names that belong to this scope."""
        return set(self.bindings) - self.globals - self.nonlocals

    @property
    def free(self) -> set[str]:
        """The names that this scope, or a scope inside it, reads or rebinds outside this scope."""
        names = set(self.loads) | self.nonlocals | self.globals
        for child in self.children:
            names |= child.free
        return names - (set() if self.is_class else self.locals)

    def within(self) -> Iterator[Scope]:
        """Yield this scope and the scopes inside it."""
        yield self
        for child in self.children:
            yield from child.within()

    def owner_of(self, name: str) -> Scope | None:
        """Return the scope that owns a variable as seen from here; None for a builtin or unknown name."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            if name in scope.globals:
                return scope.module
            if (first or not scope.is_class) and name in scope.bindings and name not in scope.nonlocals:
                return scope
            # A comprehension in a class body does not see the class's names, except in its first iterable,
            # which is evaluated in the class body and recorded there.
            first = False
            scope = scope.parent
        return None

    @property
    def module(self) -> Scope:
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Scopes:
    """Every scope of a module."""

    def __init__(self, module: cst.Module) -> None:
        self.module = Scope(module)
        self._of: dict[cst.CSTNode, Scope] = {}
        self._inside: dict[cst.CSTNode, Scope] = {module: self.module}
        self._visit(module, self.module)

    def of(self, node: cst.CSTNode) -> Scope:
        """Return the scope in which `node` is evaluated (for a def: the scope around it)."""
        return self._of[node]

    def owner(self, name: cst.Name) -> Scope | None:
        """Return the scope that owns the variable at hand; None for a builtin or an unknown name."""
        return self.of(name).owner_of(name.value)

    def inside(self, node: cst.CSTNode) -> Scope:
        """Return the scope that a module, def, lambda, class or comprehension opens."""
        return self._inside[node]

    def function_of(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """Return the def in whose body `node` runs, or None at module level."""
        scope: Scope | None = self._of[node]
        while scope is not None:
            if type(scope.node) is cst.FunctionDef:
                return scope.node
            scope = scope.parent
        return None

    def top_bindings(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """Return the nodes that bind a name at the module's top, if it is a variable of that scope."""
        owner = self.owner(node) if type(node) is cst.Name else None
        return owner.bindings[node.value] if owner is not None and owner.is_module else []  # type: ignore[attr-defined]

    def only_binding(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the node that binds a name at the top of the module, if it is the only such node."""
        bindings = self.top_bindings(node)
        return bindings[0] if len(bindings) == 1 else None

    # -- the pass
    # ------------------------------------------------------------------------------------------------

    def _bind(self, scope: Scope, name: str, node: cst.CSTNode) -> None:
        scope.bindings.setdefault(name, []).append(node)
        scope.loads.add(name)
        if name in scope.globals and scope is not self.module:
            self.module.bindings.setdefault(name, []).append(node)

    def _open(self, node: cst.CSTNode, around: Scope) -> Scope:
        scope = Scope(node, around)
        around.children.append(scope)
        self._inside[node] = scope
        return scope

    def _visit(self, node: cst.CSTNode, scope: Scope) -> None:
        self._of[node] = scope
        handler = _HANDLERS.get(type(node))
        if handler is None:
            for child in children(node):
                self._visit(child, scope)
        else:
            handler(self, node, scope)

    def _visit_all(self, nodes: object, scope: Scope) -> None:
        if isinstance(nodes, cst.CSTNode):
            self._visit(nodes, scope)
        elif isinstance(nodes, (list, tuple)):
            for node in nodes:
                self._visit_all(node, scope)

    def _name(self, node: cst.Name, scope: Scope) -> None:
        scope.loads.add(node.value)

    def _attribute(self, node: cst.Attribute, scope: Scope) -> None:
        self._visit(node.value, scope)
        self._of[node.attr] = scope

    def _arg(self, node: cst.Arg, scope: Scope) -> None:
        if node.keyword is not None:
            self._of[node.keyword] = scope
        self._visit(node.value, scope)

    def _function(self, node: cst.FunctionDef, scope: Scope) -> None:
        self._bind(scope, node.name.value, node)
        self._of[node.name] = scope
        self._visit_all(node.decorators, scope)
        inside = self._open(node, scope)
        self._parameters(node.params, scope, inside)
        self._visit_all([node.returns, node.type_parameters], scope)
        _declare(node.body, inside)
        self._visit(node.body, inside)

    def _lambda(self, node: cst.Lambda, scope: Scope) -> None:
        inside = self._open(node, scope)
        self._parameters(node.params, scope, inside)
        self._visit(node.body, inside)

    def _parameters(self, node: cst.Parameters, around: Scope, inside: Scope) -> None:
        self._of[node] = inside
        stars = [star for star in (node.star_arg, node.star_kwarg) if type(star) is cst.Param]
        if isinstance(node.star_arg, cst.CSTNode) and not stars[:1]:
            self._of[node.star_arg] = inside
        for param in (*node.posonly_params, *node.params, *node.kwonly_params, *stars):
            self._of[param] = self._of[param.name] = inside
            self._bind(inside, param.name.value, param)
            self._visit_all([param.annotation, param.default], around)

    def _class(self, node: cst.ClassDef, scope: Scope) -> None:
        self._bind(scope, node.name.value, node)
        self._of[node.name] = scope
        self._visit_all([node.decorators, node.bases, node.keywords, node.type_parameters], scope)
        inside = self._open(node, scope)
        _declare(node.body, inside)
        self._visit(node.body, inside)

    def _comprehension(self, node: cst.CSTNode, scope: Scope) -> None:
        inside = self._open(node, scope)
        parts = [node.key, node.value] if type(node) is cst.DictComp else [node.elt]  # type: ignore[attr-defined]
        loop: cst.CompFor | None = node.for_in  # type: ignore[attr-defined]
        first = True
        while loop is not None:
            self._of[loop] = inside
            self._visit(loop.iter, scope if first else inside)
            self._target(loop.target, inside)
            self._visit_all(loop.ifs, inside)
            first, loop = False, loop.inner_for_in
        self._visit_all(parts, inside)

    def _target(self, target: cst.CSTNode, scope: Scope) -> None:
        """Bind the names of an assignment target, and visit the expressions that it stores through."""
        for name in target_names(target):
            self._bind(scope, name.value, name)
        self._visit(target, scope)

    def _targets(self, node: cst.CSTNode, scope: Scope) -> None:
        if isinstance(node, (cst.AnnAssign, cst.AugAssign)):
            self._visit_all([node.value, getattr(node, "annotation", None)], scope)
            self._target(node.target, scope)
        elif isinstance(node, cst.Assign):
            self._visit(node.value, scope)
            for target in node.targets:
                self._of[target] = scope
                self._target(target.target, scope)
        elif isinstance(node, cst.For):
            self._visit(node.iter, scope)
            self._target(node.target, scope)
            self._visit_all([node.body, node.orelse], scope)

    def _walrus(self, node: cst.NamedExpr, scope: Scope) -> None:
        owner = scope
        while isinstance(owner.node, Comprehension) and owner.parent is not None:
            owner = owner.parent
        self._visit(node.value, scope)
        self._visit(node.target, scope)
        for name in target_names(node.target):
            self._bind(owner, name.value, name)

    def _as_name(self, node: cst.AsName, scope: Scope) -> None:
        self._target(node.name, scope)

    def _import_alias(self, node: cst.ImportAlias, scope: Scope) -> None:
        target = node.asname.name if node.asname is not None else node.name
        self._mark(node, scope)
        name = dotted_name(target)
        if name is not None:
            self._bind(scope, name.split(".")[0], node)

    def _import_from(self, node: cst.ImportFrom, scope: Scope) -> None:
        if node.module is not None:
            self._mark(node.module, scope)
        self._visit_all(node.names, scope)

    def _mark(self, node: cst.CSTNode, scope: Scope) -> None:
        """Record the scope of nodes that are written like expressions but read nothing."""
        for part in walk(node):
            self._of[part] = scope

    def _delete(self, node: cst.Del, scope: Scope) -> None:
        self._target(node.target, scope)

    def _match_name(self, node: cst.CSTNode, scope: Scope) -> None:
        for child in children(node):
            if type(child) is cst.Name:
                self._of[child] = scope
                self._bind(scope, child.value, child)
            else:
                self._visit(child, scope)


_HOLDS_STATEMENTS = (
    cst.BaseSuite,
    cst.BaseCompoundStatement,
    cst.SimpleStatementLine,
    cst.Else,
    cst.Finally,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.MatchCase,
)


#: The most usual statements, in which nothing is declared.
_LEAVES = frozenset({cst.Expr, cst.Assign, cst.Return, cst.AugAssign, cst.Raise, cst.Import, cst.ImportFrom})


def _declare(body: cst.CSTNode, scope: Scope) -> None:
    """Collect the `global` and `nonlocal` names of one body before its bindings are seen."""
    stack: list[cst.CSTNode] = [body]
    while stack:
        node = stack.pop()
        if type(node) in _LEAVES:
            continue
        if isinstance(node, (cst.Global, cst.Nonlocal)):
            names = scope.globals if type(node) is cst.Global else scope.nonlocals
            names.update(item.name.value for item in node.names)
        elif isinstance(node, _HOLDS_STATEMENTS) and not isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            stack.extend(children(node))


_Handler = Callable[[Scopes, Any, Scope], None]
_HANDLERS: dict[type[cst.CSTNode], _Handler] = {
    cst.Name: Scopes._name,
    cst.Attribute: Scopes._attribute,
    cst.Arg: Scopes._arg,
    cst.FunctionDef: Scopes._function,
    cst.Lambda: Scopes._lambda,
    cst.ClassDef: Scopes._class,
    cst.ListComp: Scopes._comprehension,
    cst.SetComp: Scopes._comprehension,
    cst.DictComp: Scopes._comprehension,
    cst.GeneratorExp: Scopes._comprehension,
    cst.Assign: Scopes._targets,
    cst.AnnAssign: Scopes._targets,
    cst.AugAssign: Scopes._targets,
    cst.For: Scopes._targets,
    cst.NamedExpr: Scopes._walrus,
    cst.AsName: Scopes._as_name,
    cst.ImportAlias: Scopes._import_alias,
    cst.ImportFrom: Scopes._import_from,
    cst.Del: Scopes._delete,
    cst.MatchAs: Scopes._match_name,
    cst.MatchStar: Scopes._match_name,
    cst.MatchMapping: Scopes._match_name,
    cst.Global: Scopes._mark,
    cst.Nonlocal: Scopes._mark,
}


class FreshNames:
    """Hands out unused names for the scopes of a module.

    A name differs from every name of the user in the whole file, because shadowing is legal but hard to read.
    It also differs from the names already given to the same scope and to the scopes around it.
    """

    def __init__(self, scopes: Scopes) -> None:
        self._scopes = scopes
        self._used_names = {
            name for scope in scopes.module.within() for name in (*scope.bindings, *scope.loads)
        } | set(dir(builtins))
        self._given_names: defaultdict[cst.CSTNode, set[str]] = defaultdict(set)

    def name(self, where: cst.CSTNode, wanted_name: str) -> str:
        """Return a name for the def, lambda or module `where`: `wanted_name`, or `wanted_name_2`, …"""
        around: Scope | None = self._scopes.inside(where)
        given_names = set()
        while around is not None:
            given_names |= self._given_names[around.node]
            around = around.parent
        name, number = wanted_name, 1
        while name in self._used_names or name in given_names or keyword.iskeyword(name):
            number += 1
            name = f"{wanted_name}_{number}"
        self._given_names[where].add(name)
        return name


# -- instances -----------------------------------------------------------------------------------------------
# The attributes that each method assigns on its instance: `self.x = …`.

_AROUND_TARGETS = (cst.Element, cst.StarredElement, cst.Tuple, cst.List)


class Instances:
    """The attributes set by each method."""

    def __init__(self, attributes: list[cst.Attribute], scopes: Scopes, parents: Parents) -> None:
        self._by_method: dict[cst.CSTNode, set[str]] = {}
        for node in attributes:
            method = scopes.of(node).node
            if type(method) is not cst.FunctionDef or not _is_assigned(node, parents):
                continue
            if type(node.value) is cst.Name and node.value.value == first_parameter(method):
                self._by_method.setdefault(method, set()).add(node.attr.value)

    def assigned_by(self, method: cst.FunctionDef) -> set[str]:
        """Return the attribute names that a method assigns plainly, as in `self.name = …`."""
        return self._by_method.get(method, set())


def _is_assigned(node: cst.CSTNode, parents: Parents) -> bool:
    up = parents[node]
    while isinstance(up, _AROUND_TARGETS):
        node, up = up, parents[up]
    return type(up) is cst.AssignTarget or (type(up) is cst.AnnAssign and up.target is node)
