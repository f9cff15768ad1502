"""Functions and classes that a comment `# np2tf: off` keeps as they are."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from np2tf.core.suppressions import OFF
from np2tf.translator.tree.nodes import walk


def is_switched_off(node: cst.CSTNode | None) -> bool:
    """Return whether a function's or class's header, or a line above it, has the comment."""
    return isinstance(node, (cst.FunctionDef, cst.ClassDef)) and any(map(OFF.search, _comments(node)))


def switched_off(module: cst.Module) -> list[cst.CSTNode]:
    """Return the functions and classes of a module that have the comment."""
    return [node for node in walk(module) if is_switched_off(node)]


def _comments(node: cst.FunctionDef | cst.ClassDef) -> Iterator[str]:
    lines = [*node.leading_lines, *node.lines_after_decorators]
    ends = [node.body.header if isinstance(node.body, cst.IndentedBlock) else node.body.trailing_whitespace]  # type: ignore[attr-defined]
    for decorator in node.decorators:
        lines += decorator.leading_lines
        ends.append(decorator.trailing_whitespace)
    yield from (place.comment.value for place in (*lines, *ends) if place.comment is not None)
