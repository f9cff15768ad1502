"""Fast, whitespace-free walks over a libcst tree.

`CSTNode.visit` also visits every space and comma; the analyses need only the code, so they walk a per-class
list of the fields that hold code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any

import libcst as cst

from np2tf.tree.memo import MAX_RESULTS, forgettable, memoize
from np2tf.tree.names import words

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
def _field_names(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))  # type: ignore[arg-type]


def every_child(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes directly below `node`, also spaces, commas and comments."""
    for name in _field_names(type(node)):
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
