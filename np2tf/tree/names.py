"""Dotted names, and the nodes that spell them."""

from __future__ import annotations

import libcst as cst


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


def words(text: str) -> frozenset[str]:
    """Return the set of names in a text, separated by spaces."""
    return frozenset(text.split())


def root_of(node: cst.CSTNode) -> cst.CSTNode:
    """Return the expression that a chain of attributes and subscripts starts from."""
    while type(node) is cst.Attribute or type(node) is cst.Subscript:
        node = node.value
    return node
