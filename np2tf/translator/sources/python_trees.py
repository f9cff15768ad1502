"""Python's own trees of sources: their scopes, blocks and imports. This module does not load libcst."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

#: Statements that define a function or a class.
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def parse_quietly(source: str | bytes) -> ast.Module:
    """Return the tree of a source, without Python's warnings about it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def python_tree(source: str | bytes) -> ast.Module | None:
    """Return the tree of a source, without Python's warnings about it; None if it is no program."""
    try:
        return parse_quietly(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def first_line(node: ast.stmt | ast.Lambda) -> int:
    """Return the line on which a statement begins; decorators are a part of it."""
    return min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])


def blocks_of(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a compound statement."""
    for part in ("body", "orelse", "finalbody"):
        block = getattr(node, part, None)
        if isinstance(block, list):
            yield block
    for part in ("handlers", "cases"):
        for handler in getattr(node, part, ()):
            yield handler.body


def own_statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a scope, also those in its blocks, without those of functions and classes."""
    for statement in body:
        yield statement
        if not isinstance(statement, DEFINITIONS):
            for block in blocks_of(statement):
                yield from own_statements(block)


def imports_in(statement: ast.AST) -> Iterator[tuple[str, str, str | None]]:
    """Yield the names that an import statement binds; nothing for other nodes.

    Each comes with the module, as the statement spells it, and the name there; None is the module itself.
    """
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            root = alias.name.partition(".")[0]
            yield alias.asname or root, alias.name if alias.asname else root, None
    elif isinstance(statement, ast.ImportFrom):
        module = "." * statement.level + (statement.module or "")
        for alias in statement.names:
            yield alias.asname or alias.name, module, alias.name


def numpy_imports(statement: ast.AST) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names that an import statement binds to objects of NumPy, and their paths below `numpy`."""
    for bound_name, module, name in imports_in(statement):
        first, *path = module.split(".")
        if first == "numpy" and name != "*":
            yield bound_name, (*path, *([] if name is None else [name]))
