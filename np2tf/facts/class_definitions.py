"""Class definitions inside functions, and whether running a definition has effects."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.tree.walk import children, walk


def is_unused_class(node: cst.CSTNode, function: cst.FunctionDef) -> bool:
    """Return whether defining a class has no effect, and nothing in the function names the class."""
    if type(node) is not cst.ClassDef or node.decorators or node.bases or node.keywords:
        return False
    if any(type(part) in (cst.Call, cst.Await, cst.Yield) for part in _run_by_class(node)):
        return False
    name = node.name.value
    return not any(
        type(part) is cst.Name and part.value == name and part is not node.name for part in walk(function)
    )


def _run_by_class(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes that run when a class is defined: its text without the bodies of its methods."""
    yield node
    for child in children(node):
        yield from () if type(child) is cst.FunctionDef and not child.decorators else _run_by_class(child)
