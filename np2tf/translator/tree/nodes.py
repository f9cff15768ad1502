"""Nodes of a tree: walks, parents, dotted names, and results that are kept per node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import cache, wraps
from typing import Any, TypeVar, cast

import libcst as cst

# -- memo ----------------------------------------------------------------------------------------------------
# Facts about the nodes of a tree, kept while a file is translated.
#
# Nodes do not change, and are asked about again and again. A result is kept under the node's identity,
# together with the node, so that no other node can get it; hashing a node takes longer.

_Result = TypeVar("_Result")
#: So many results are kept of a function, if nobody says that they are not needed any more.
MAX_RESULTS = 400_000
_EVERY: list[dict[int, Any]] = []
_Results = TypeVar("_Results", bound=dict[int, Any])


def memoize(function: Callable[[cst.CSTNode], _Result]) -> Callable[[cst.CSTNode], _Result]:
    """The function of one node, which works each result out once."""
    results: dict[int, tuple[cst.CSTNode, Any]] = {}
    _EVERY.append(results)

    @wraps(function)
    def lookup(node: cst.CSTNode) -> _Result:
        entry = results.get(id(node))
        if entry is not None:
            result: _Result = entry[1]
            return result
        result = function(node)
        if len(results) >= MAX_RESULTS:
            results.clear()
        results[id(node)] = node, result
        return result

    return lookup


def forgettable(results: _Results) -> _Results:
    """Return a dict by identities of nodes, which `forget` empties."""
    _EVERY.append(results)
    return results


def forget() -> None:
    """Keep nothing: another file is worked on."""
    for results in _EVERY:
        results.clear()


# -- names ---------------------------------------------------------------------------------------------------
# Dotted names, and the nodes that spell them.


def dotted_name(node: cst.CSTNode | None) -> str | None:
    """Return `a.b.c` for a Name or a chain of Attributes on a Name; None for other nodes."""
    parts: list[str] = []
    while type(node) is cst.Attribute:
        parts.append(node.attr.value)
        node = node.value
    if type(node) is not cst.Name:
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def name_node(path: str) -> cst.Name | cst.Attribute:
    """Return the expression for a dotted path."""
    first, *attributes = path.split(".")
    node: cst.Name | cst.Attribute = cst.Name(first)
    for part in attributes:
        node = cst.Attribute(node, cst.Name(part))
    return node


def target_names(target: cst.CSTNode) -> list[cst.Name]:
    """Return the names that an assignment target binds (not the names that it stores through)."""
    if isinstance(target, cst.Name):
        return [target]
    if isinstance(target, (cst.Tuple, cst.List)):
        return [name for element in target.elements for name in target_names(element.value)]
    if isinstance(target, (cst.StarredElement, cst.AssignTarget)):
        return target_names(target.value if isinstance(target, cst.StarredElement) else target.target)
    return []


def bound_name(alias: cst.ImportAlias) -> str:
    """Return the name that an import binds."""
    return (alias.evaluated_alias or alias.evaluated_name).split(".")[0]


def positional_parameters(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    """Return the parameters that a call may give by position."""
    return [*function.params.posonly_params, *function.params.params]


def named_parameters(function: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    """Return the parameters without `*` and `**`."""
    return [*positional_parameters(function), *function.params.kwonly_params]


def first_parameter(function: cst.FunctionDef | cst.Lambda) -> str | None:
    """Return the name of the first positional parameter, such as `self`."""
    return next((param.name.value for param in positional_parameters(function)), None)


def has_keyword(call: cst.Call, name: str) -> bool:
    """Return whether a call gives an argument by this keyword."""
    return any(arg.keyword is not None and arg.keyword.value == name for arg in call.args)


def words(text: str) -> frozenset[str]:
    """Return the set of names in a text, separated by spaces."""
    return frozenset(text.split())


def root_of(node: cst.CSTNode) -> cst.CSTNode:
    """Return the expression that a chain of attributes and subscripts starts from."""
    while type(node) is cst.Attribute or type(node) is cst.Subscript:
        node = node.value
    return node


# -- walk ----------------------------------------------------------------------------------------------------
# Fast, whitespace-free walks over a libcst tree.
#
# `CSTNode.visit` also visits every space and comma; the analyses need only the code, so they walk a
# per-class list of the fields that hold code.

_PUNCTUATION = words(
    """
    lpar rpar leading_lines lines_after_decorators header footer semicolon comma trailing_whitespace equal
    lbracket rbracket lbrace rbrace indent newline dot colon first_colon second_colon
    lines_after_module_docstring leading_newline
    encoding default_indent default_newline has_trailing_newline asynchronous relative
    """
)


@cache
def code_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the fields of a node class that can hold code, in source order."""
    return tuple(
        field.name
        for field in fields(kind)  # type: ignore[arg-type]
        if field.name not in _PUNCTUATION and not field.name.startswith("whitespace")
    )


@cache
def _is_node(kind: Any) -> bool:
    # Computed once for a class: libcst's classes are abstract base classes, for which isinstance is slow.
    return issubclass(kind, cst.CSTNode)


@memoize
def children(node: cst.CSTNode) -> tuple[cst.CSTNode, ...]:
    """The code nodes directly below `node`, in source order."""
    nodes: list[cst.CSTNode] = []
    for name in code_fields(type(node)):
        value = getattr(node, name)
        kind: Any = type(value)
        if _is_node(kind):
            nodes.append(value)
        elif kind is list or kind is tuple:
            nodes.extend(item for item in value if _is_node(item.__class__))
    return tuple(nodes)


@cache
def field_names(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the names of the fields of a class of nodes."""
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]


def every_child(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes directly below `node`, also spaces, commas and comments."""
    for name in field_names(type(node)):
        value = getattr(node, name)
        kind: Any = type(value)
        if _is_node(kind):
            yield value
        elif kind is list or kind is tuple:
            yield from (item for item in value if _is_node(item.__class__))


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield `node` and every code node below it, parents first, in source order."""
    place = _places.get(id(node))
    if place is not None:
        return map(place[1].__getitem__, place[2])
    return _walk(node)


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        below = children(top)
        if below:
            stack.extend(below[::-1])


def arrange(module: cst.CSTNode) -> tuple[list[cst.CSTNode], list[int]]:
    """Keep the order of a tree's nodes, in which each subtree is a range; walks of it then take no search.

    Return the nodes in this order, and the number of each node's parent in it (-1 for the first).
    """
    if len(_places) >= MAX_RESULTS:
        _places.clear()
    order: list[cst.CSTNode] = []
    parents: list[int] = []
    stack: list[tuple[cst.CSTNode, int]] = [(module, -1)]
    while stack:
        node, parent = stack.pop()
        number = len(order)
        order.append(node)
        parents.append(parent)
        below = children(node)
        if below:
            stack += [(child, number) for child in below[::-1]]
    sizes = [1] * len(order)
    for number in range(len(order) - 1, -1, -1):
        size, node = sizes[number], order[number]
        _places[id(node)] = node, order, range(number, number + size)
        if number:
            sizes[parents[number]] += size
    return order, parents


#: The nodes that have been arranged: with themselves, so that no other node gets their identity.
_places: dict[int, tuple[cst.CSTNode, list[cst.CSTNode], range]] = forgettable({})


# -- parents -------------------------------------------------------------------------------------------------
# The parent of every node.

Node = TypeVar("Node", bound=cst.CSTNode)


class Parents:
    """Maps each node to its parent node."""

    def __init__(self, nodes: Sequence[cst.CSTNode], parents: Sequence[int]) -> None:
        """Use the nodes of a tree, and the number of each one's parent, as `arrange` returns them."""
        self._above = {node: nodes[parent] for node, parent in zip(nodes, parents) if parent >= 0}

    def __getitem__(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """Return the parent, or None for the module."""
        return self._above.get(node)

    def above(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yield the nodes around `node`, from the inside out."""
        up = self._above.get(node)
        while up is not None:
            yield up
            up = self._above.get(up)

    def assigned_value(self, target: cst.CSTNode) -> cst.BaseExpression | None:
        """Return the value of `target = value`; None if the target is bound in another way."""
        up = self._above.get(target)
        assign = self._above.get(up) if type(up) is cst.AssignTarget else None
        return assign.value if type(assign) is cst.Assign else None

    def given_value(self, target: cst.CSTNode) -> cst.BaseExpression | None:
        """Return the value of `target = value` or `target: kind = value`; None if there is none."""
        up = self._above.get(target)
        return up.value if type(up) is cst.AnnAssign else self.assigned_value(target)

    def nearest(self, node: cst.CSTNode, *kinds: type[Node]) -> Node | None:
        """Return the innermost node of exactly one of these classes around `node` (not `node` itself)."""
        return next((cast(Node, up) for up in self.above(node) if type(up) in kinds), None)
