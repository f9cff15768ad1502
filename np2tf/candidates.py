"""Which sources are worth a look: those that say NumPy, and those with functions that may be over somebody's
arrays.

A quick look with Python's own parser; what it finds is judged by the translator, which looks for the same
(`facts/array_work.py`). A text whose loops do what lists, dicts and texts are for is no candidate.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

#: So many operations on arrays are worth staging without a loop.
ENOUGH = 3
#: Operators of numbers and arrays that texts and lists have no use for.
_NUMERIC = (ast.Div, ast.Pow, ast.MatMult, ast.BitXor, ast.BitAnd, ast.LShift, ast.RShift, ast.Mult, ast.Sub)
#: Those that slices of lists and texts do not have.
_OF_ARRAYS = (ast.Sub, ast.Div, ast.Pow, ast.MatMult)
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+np2tf\b", re.MULTILINE)
_REPEATS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ATTRIBUTES = frozenset({"T", "shape", "ndim", "dtype"})


def is_translated(text: str) -> bool:
    """Whether a source is np2tf's output, as far as a look shows: it imports np2tf, and more than a comment
    names it."""
    return "np2tf" in text and _IMPORT.search(text) is not None


def is_candidate(text: str, program: ast.Module | None = None) -> bool:
    """Whether a source may hold something to translate; one that has been translated holds nothing new.

    Args:
        text: of the source.
        program: what Python's parser makes of it, if that is known.
    """
    if "numpy" in text:
        return True
    if is_translated(text) or "def " not in text or not any(word in text for word in ("for ", "while ", "[")):
        return False
    try:
        tree = ast.parse(text) if program is None else program
    except (SyntaxError, ValueError, RecursionError):
        return False
    if any(map(_calculates, ast.walk(tree))):
        return True
    return any(_loops_over_arrays(one) or _is_elementwise(one) for one in _outermost(tree))


def _calculates(node: ast.AST) -> bool:
    """Whether a node is a loop that calculates."""
    return isinstance(node, (ast.For, ast.While)) and any(isinstance(one, _NUMERIC) for one in ast.walk(node))


def _outermost(node: ast.AST) -> Iterator[ast.AST]:
    """The functions that are in no other."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            yield child
        elif isinstance(child, ast.stmt):
            yield from _outermost(child)


def _loops_over_arrays(function: ast.AST) -> bool:
    """Whether a function has a loop, and does what can only be done with arrays."""
    nodes = list(_evaluated(function))
    return any(isinstance(node, _REPEATS) for node in nodes) and any(map(_shows_arrays, nodes))


def _is_elementwise(function: ast.AST) -> bool:
    """Whether a function calculates with slices so often that it is worth staging without a loop."""
    found = (node for node in _evaluated(function) if isinstance(node, ast.BinOp))
    return sum(map(_calculates_with_slices, found)) >= ENOUGH


def _evaluated(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without what only says of what type something is."""
    stack = [function]
    while stack:
        node = stack.pop()
        yield node
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        stack += [child for child in ast.iter_child_nodes(node) if child not in annotations]


def _shows_arrays(node: ast.AST) -> bool:
    """Whether a node can only be about arrays: several axes, shapes, slices that are calculated with."""
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Tuple) and len(node.slice.elts) > 1
    if isinstance(node, ast.Attribute):
        return node.attr in _ATTRIBUTES
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult) or _calculates_with_slices(node)
    if isinstance(node, ast.AugAssign):
        matrices = isinstance(node.op, ast.MatMult)
        return matrices or (isinstance(node.op, _OF_ARRAYS) and _is_sliced(node.target))
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Constant) and any(map(_is_sliced, node.targets))
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and _is_sliced(node.operand)


def _calculates_with_slices(node: ast.BinOp) -> bool:
    if isinstance(node.op, _OF_ARRAYS):
        return _is_sliced(node.left) or _is_sliced(node.right)
    return isinstance(node.op, ast.Mult) and (_is_sliced(node.left) or _is_sliced(node.right))


def _is_sliced(node: ast.AST) -> bool:
    """Whether an expression is a slice, or a sum of slices."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_sliced(node.left) or _is_sliced(node.right)
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Slice) for part in parts)
