"""Caches that are emptied by name: the name must be a cached property's."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCES = sorted((Path(__file__).resolve().parents[2] / "np2tf").rglob("*.py"))


def _namespaces_pop(node: ast.AST) -> str | None:
    """Return the name in ``vars(x).pop(name)`` or ``x.__dict__.pop(name)``."""
    match node:
        case ast.Call(
            func=ast.Attribute(
                value=ast.Call(func=ast.Name(id="vars")) | ast.Attribute(attr="__dict__"), attr="pop"
            ),
            args=[ast.Constant(value=str(name)), *_],
        ):
            return name
    return None


def test_no_cache_is_emptied_under_a_name_that_no_property_has() -> None:
    """A property that is renamed would keep its cache for ever, and nothing would say so."""
    trees = [ast.parse(path.read_text()) for path in SOURCES]
    cached = {
        node.name
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any("cached_property" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
    popped = {name for tree in trees for node in ast.walk(tree) if (name := _namespaces_pop(node))}
    assert popped - cached == set()
    stale = ast.parse('vars(self).pop("assigned", None)', mode="eval").body
    assert _namespaces_pop(stale) == "assigned"
