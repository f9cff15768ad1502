"""Reads, writes, liveness and definite assignment, statement by statement, within one function.

These functions work on plain libcst nodes, so that they serve the user's tree and a tree that other rewrites
have already edited. Only names are followed. A store through a name (`x[i] = v`) both reads and writes that
name, because after translation it is a rebinding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from np2tf.facts.dataflow.declarations import declared_names
from np2tf.tree.memo import memoize
from np2tf.tree.walk import children, walk

Names = frozenset[str]
NO_NAMES: Names = frozenset()
#: Methods that change the list, dict or set that they are called on.
GROWS = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "update",
        "setdefault",
        "popitem",
        "discard",
        "reverse",
    ]
)
#: Attributes of an array that are views of it.
VIEWS = frozenset({"T", "real", "imag", "flat"})
_COMPREHENSIONS = frozenset({cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp})
_SCOPES = frozenset({cst.FunctionDef, cst.ClassDef, cst.Lambda})


def block(node: cst.CSTNode | None) -> Sequence[cst.CSTNode]:
    """Return the statements of a body, an `else`, or an `elif` (a single `if` statement)."""
    if type(node) is cst.IndentedBlock or type(node) is cst.SimpleStatementSuite:
        return node.body
    if node is None:
        return ()
    if type(node) is cst.If:
        return (node,)
    if type(node) is cst.Else or type(node) is cst.Finally:
        return block(node.body)
    raise TypeError(type(node).__name__)


def parameters(params: cst.Parameters) -> list[str]:
    """Return the names a function's parameters bind."""
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    every += [star for star in (params.star_arg, params.star_kwarg) if type(star) is cst.Param]
    return [param.name.value for param in every]


def bound_targets(target: cst.CSTNode) -> list[str]:
    """Return the names an assignment target binds outright (not those it stores through), in order."""
    if type(target) is cst.Name:
        return [target.value]
    if type(target) is cst.Tuple or type(target) is cst.List:
        return [name for element in target.elements for name in bound_targets(element.value)]
    return []


def stored_through(target: cst.CSTNode) -> list[str]:
    """Return the base names of the subscripts and attributes that an assignment target stores into.

    A store into an attribute of an object gives no name: it changes the object, not the binding of its name.
    """
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in stored_through(element.value)]
    base = target
    while isinstance(base, (cst.Subscript, cst.Attribute)):
        if isinstance(base, cst.Attribute) and base.attr.value not in VIEWS:
            return []
        base = base.value
    return [base.value] if isinstance(base, cst.Name) and base is not target else []


def target_reads(target: cst.CSTNode) -> Names:
    if type(target) is cst.Name:
        return NO_NAMES
    if isinstance(target, (cst.Tuple, cst.List)):
        return union_of(target_reads(element.value) for element in target.elements)
    return reads(target)


def union_of(sets: Iterable[Names]) -> Names:
    return NO_NAMES.union(*sets)


#: The nodes that `binds_here` may find names in. Most nodes are of other classes.
_BINDING = frozenset({
    cst.AssignTarget, cst.AugAssign, cst.For, cst.CompFor, cst.AnnAssign, cst.NamedExpr, cst.Call, cst.Del,
    cst.FunctionDef, cst.ClassDef, cst.AsName, cst.ImportAlias, cst.MatchAs, cst.MatchStar, cst.MatchMapping,
})  # fmt: skip

_WITH_TARGET = frozenset({cst.AssignTarget, cst.AugAssign, cst.For, cst.AnnAssign, cst.Del})


def binds_here(node: cst.CSTNode) -> list[str]:
    """Return the names that this one node binds or stores through, without looking below it."""
    if type(node) not in _BINDING:
        return []
    if isinstance(node, (cst.AugAssign, cst.For, cst.CompFor, cst.AnnAssign)):
        if isinstance(node, cst.AnnAssign) and node.value is None:
            return []
        return bound_targets(node.target) + stored_through(node.target)
    if isinstance(node, cst.NamedExpr):
        return bound_targets(node.target)
    if isinstance(node, cst.Call):
        return _changed_names(node)
    if isinstance(node, (cst.AssignTarget, cst.Del)):
        return bound_targets(node.target) + stored_through(node.target)
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return [node.name.value]
    if isinstance(node, cst.AsName):
        return bound_targets(node.name)
    if isinstance(node, cst.ImportAlias):
        name = node.name
        while isinstance(name, cst.Attribute):
            name = name.value  # type: ignore[assignment]
        return [] if node.asname else [name.value]
    if isinstance(node, (cst.MatchAs, cst.MatchStar)):
        return [node.name.value] if node.name else []
    if isinstance(node, cst.MatchMapping):
        return [node.rest.value] if node.rest else []
    return []


def _changed_names(call: cst.Call) -> list[str]:
    """Return the name of the list, dict or set that a method call changes, if it is a plain name."""
    func = call.func
    if type(func) is not cst.Attribute or func.attr.value not in GROWS:
        return []
    return [func.value.value] if type(func.value) is cst.Name else []


def ordered_writes(nodes: Iterable[cst.CSTNode]) -> list[str]:
    """The names possibly written by `nodes` in this scope, in order of first writing."""
    return list(dict.fromkeys(name for node in nodes for name in _writes(node)))


@memoize
def _writes(top: cst.CSTNode) -> tuple[str, ...]:
    """Return what `ordered_writes` finds in one node."""
    names: dict[str, None] = {}

    def visit(node: cst.CSTNode, in_comprehension: bool) -> None:
        kind = type(node)
        comprehension = in_comprehension or kind in _COMPREHENSIONS
        if kind in _BINDING and not (in_comprehension and kind is cst.CompFor):
            names.update(dict.fromkeys(binds_here(node)))
        if kind in _SCOPES:
            return
        for child in children(node):
            visit(child, comprehension)

    visit(top, False)
    return tuple(names)


def writes(nodes: Iterable[cst.CSTNode]) -> Names:
    """Return the names possibly written by `nodes` in this scope."""
    return frozenset(ordered_writes(nodes))


def function_locals(function: cst.FunctionDef) -> Names:
    """Return the names that are local to a function: its parameters and the names that its body binds
    outright.
    """
    return _function_locals(function)


@memoize
def _function_locals(function: cst.CSTNode) -> Names:
    assert type(function) is cst.FunctionDef
    names = frozenset(parameters(function.params)) | rebound(block(function.body))
    return names - declared_names(function, cst.Global, cst.Nonlocal)


def rebound(body: Iterable[cst.CSTNode]) -> Names:
    """Return the names that statements bind outright. A store through a name is not included."""
    names: set[str] = set()

    def visit(node: cst.CSTNode, in_comprehension: bool) -> None:
        kind = type(node)
        if kind in _BINDING and not (in_comprehension and kind is cst.CompFor):
            if kind in _WITH_TARGET:
                names.update(bound_targets(node.target))  # type: ignore[attr-defined]
            elif kind is not cst.Call:
                names.update(binds_here(node))
        if kind in _SCOPES:
            return
        comprehension = in_comprehension or kind in _COMPREHENSIONS
        for child in children(node):
            visit(child, comprehension)

    for node in body:
        visit(node, False)
    return frozenset(names)


#: The nodes that read what one part of them reads …
_READ_THROUGH = frozenset({cst.Attribute, cst.Arg, cst.NamedExpr})
#: … and nodes that do not read all their parts.
_READ_OTHERWISE = frozenset({
    cst.AugAssign, cst.AssignTarget, cst.AnnAssign, cst.For, cst.Lambda, cst.FunctionDef, *_COMPREHENSIONS,
    cst.AsName, cst.ImportAlias, cst.ImportFrom, cst.Global, cst.Nonlocal,
    cst.MatchAs, cst.MatchStar, cst.MatchMapping, cst.ClassDef,
})  # fmt: skip


def reads(node: cst.CSTNode | None) -> Names:
    """Return the names whose values `node` may read from the scope around it, including reads in nested
    scopes.
    """
    if node is None:
        return NO_NAMES
    kind = type(node)
    if kind is cst.Name:
        return frozenset((node.value,))  # type: ignore[attr-defined]
    if kind in _READ_THROUGH:
        return reads(node.value)  # type: ignore[attr-defined]
    return _reads(node)


@memoize
def _reads(node: cst.CSTNode) -> Names:
    """Return what `reads` finds in a node with several parts, in a node that binds names, or in a scope."""
    if type(node) not in _READ_OTHERWISE:
        return NO_NAMES.union(*map(reads, children(node)))
    if type(node) is cst.AugAssign:
        return reads(node.target) | reads(node.value)
    if type(node) is cst.AssignTarget:
        return target_reads(node.target)
    if type(node) is cst.AnnAssign:
        return target_reads(node.target) | reads(node.value)
    if type(node) is cst.For:
        parts = (reads(part) for part in (node.iter, *block(node.body), *block(node.orelse)))
        return target_reads(node.target) | union_of(parts)
    if isinstance(node, (cst.Lambda, cst.FunctionDef, *_COMPREHENSIONS)):
        return _nested_reads(node)
    if type(node) in (cst.AsName, cst.ImportAlias, cst.ImportFrom, cst.Global, cst.Nonlocal):
        return NO_NAMES
    if type(node) in (cst.MatchAs, cst.MatchStar, cst.MatchMapping):
        return union_of(reads(child) for child in children(node) if type(child) is not cst.Name)
    if type(node) is cst.ClassDef:
        return union_of(reads(child) for child in children(node) if child is not node.name)
    raise TypeError(node)


def _nested_reads(node: cst.CSTNode) -> Names:
    if type(node) is cst.Lambda:
        inner = reads(node.body) - frozenset(parameters(node.params))
        return inner | _default_reads(node.params)
    if type(node) is cst.FunctionDef:
        body = union_of(reads(statement) for statement in block(node.body)) - function_locals(node)
        return (
            body | _default_reads(node.params) | union_of(reads(item.decorator) for item in node.decorators)
        )
    element = (node.key, node.value) if type(node) is cst.DictComp else (node.elt,)  # type: ignore[attr-defined]
    loop: cst.CompFor | None = node.for_in  # type: ignore[attr-defined]
    names, targets = union_of(reads(part) for part in element), set[str]()
    while loop is not None:
        names |= union_of(reads(part) for part in (loop.iter, *loop.ifs))
        targets.update(bound_targets(loop.target))
        loop = loop.inner_for_in
    return (names - targets) | reads(node.for_in.iter)  # type: ignore[attr-defined]


def _default_reads(params: cst.Parameters) -> Names:
    every = [*params.posonly_params, *params.params, *params.kwonly_params]
    return union_of(reads(param.default) for param in every)


def free_names(function: cst.FunctionDef | cst.Lambda) -> Names:
    """Return the names that a nested function or lambda reads from the scopes around it when it is called."""
    if isinstance(function, cst.Lambda):
        return reads(function.body) - frozenset(parameters(function.params))
    return union_of(reads(statement) for statement in block(function.body)) - function_locals(function)


@memoize
def assigned_first(node: cst.CSTNode) -> Names:
    """Return the names that an expression's `:=` certainly assigns before anything in it reads them."""
    if not any(type(part) is cst.NamedExpr for part in walk(node)):
        return NO_NAMES
    names: set[str] = set()
    certain: set[str] = set()

    def visit(part: cst.CSTNode, sure: bool) -> None:
        if isinstance(part, cst.NamedExpr):
            visit(part.value, sure)
            name = part.target.value if isinstance(part.target, cst.Name) else ""
            if sure and name not in names:
                certain.add(name)
            names.add(name)
        elif isinstance(part, cst.Name):
            names.add(part.value)
        elif isinstance(part, (cst.BooleanOperation, cst.IfExp)):
            first, *later = (part.left, part.right) if isinstance(part, cst.BooleanOperation) else (
                part.test, part.body, part.orelse)  # fmt: skip
            visit(first, sure)
            for node_behind in later:
                visit(node_behind, False)
        else:
            nested = isinstance(part, (cst.Lambda, *_COMPREHENSIONS))
            for child in children(part):
                visit(child, sure and not nested)

    visit(node, True)
    return frozenset(certain)
