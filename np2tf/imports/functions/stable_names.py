"""Tells the names around a function that always mean the same object.

The translation of a single function puts np2tf's functions in the place of NumPy's. A name that another
statement, a loop or another function can bind again must be looked up at each call instead.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
#: Two bindings stand for more of them.
_TWICE = 2


def is_bound_once(tree: ast.Module, first: int, last: int, name: str) -> bool:
    """Return whether a name that a block of a file reads from its surroundings is bound only once there.

    A global variable counts only if an import binds it, because other modules may assign a variable.

    Args:
        tree: the file.
        first: the first line of the block.
        last: its last line.
        name: the name.
    """
    for scope in _scopes_around(tree, first, last):
        count = sum(_bindings(scope, name))
        if count:
            return count == 1 and (scope is not tree or _is_imported(tree, name))
    return _is_imported(tree, "*")


def _is_imported(tree: ast.Module, name: str) -> bool:
    return any(isinstance(node, ast.alias) and _binds(node, name) for node in ast.walk(tree))


def _scopes_around(tree: ast.Module, first: int, last: int) -> list[ast.AST]:
    """Return the functions around the lines, the innermost first, and the module."""
    around: list[ast.AST] = [
        node
        for node in ast.walk(tree)
        if isinstance(node, _FUNCTIONS)
        and node.lineno <= first
        and (node.end_lineno or 0) >= last
        and (node.lineno, node.end_lineno) != (first, last)
    ]
    return [*reversed(around), tree]


def _bindings(scope: ast.AST, name: str) -> Iterator[int]:
    """Yield the number of times that each part of a scope binds the name."""
    arguments = getattr(scope, "args", None)
    if isinstance(arguments, ast.arguments):
        yield sum(node.arg == name for node in ast.walk(arguments) if isinstance(node, ast.arg))
    body = getattr(scope, "body", [])
    for statement in body if isinstance(body, list) else [body]:
        yield from _inside(statement, name, False)


def _inside(node: ast.AST, name: str, repeats: bool) -> Iterator[int]:
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        yield _TWICE if name in node.names else 0
        return
    if _binds(node, name):
        yield _TWICE if repeats else 1
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        # Its own names are not names of the scope, unless it says so.
        statements = [part for part in ast.walk(node) if isinstance(part, (ast.Global, ast.Nonlocal))]
        yield _TWICE * sum(name in statement.names for statement in statements)
        return
    for child in ast.iter_child_nodes(node):
        yield from _inside(child, name, repeats or isinstance(node, _LOOPS))


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0]) == name
    return getattr(node, "name", None) == name and not isinstance(node, ast.TypeIgnore)
