"""Python's own trees of sources. This module does not load libcst."""

from __future__ import annotations

import ast
import warnings


def python_tree(source: str | bytes) -> ast.Module | None:
    """Return the tree of a source, without Python's warnings about it; None if it is no program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
