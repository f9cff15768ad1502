"""Whether a source may hold something to translate."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

# A quick search for sources that may contain work for the translator.
#
# A source is a candidate if it names NumPy, or if it has a function that may compute over arrays of its
# callers. The search uses Python's own parser; the translator then decides by the same signs
# (`np2tf.translator.facts.array_work`). A source whose loops only do what lists, dicts and strings are for
# is no candidate.

#: In a source with such a word, a call that begins without tensors may create some. Comments for np2tf are no
#: use of it.
_OF_TENSORS = re.compile(rb"tensorflow|keras|(?<!# )(?<!#)np2tf|np2tf(?!:)")
#: Functions that look at the stack, where np2tf's frames stand between the program's frames.
OF_THE_STACK = frozenset(
    {
        "sys._getframe",
        "inspect.currentframe",
        "inspect.stack",
        "traceback.extract_stack",
        "traceback.print_stack",
    }
)
#: The number of array operations from which staging pays without a loop.
ENOUGH = 3
#: Operators of numbers and arrays that are rare for strings and lists.
_NUMERIC = (ast.Div, ast.Pow, ast.MatMult, ast.BitXor, ast.BitAnd, ast.LShift, ast.RShift, ast.Mult, ast.Sub)
#: Operators that slices of lists and strings do not support.
_OF_ARRAYS = (ast.Sub, ast.Div, ast.Pow, ast.MatMult)
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+np2tf\b", re.MULTILINE)
_REPEATS = (ast.For, ast.While, ast.ListComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ATTRIBUTES = frozenset({"T", "shape", "ndim", "dtype"})


def may_make_tensors(source: bytes) -> bool:
    """Return whether a call that begins without tensors may create some."""
    return _OF_TENSORS.search(source) is not None


def is_translated(text: str) -> bool:
    """Return whether a source looks like np2tf's output: it has a line that imports np2tf."""
    return "np2tf" in text and _IMPORT.search(text) is not None


def is_candidate(text: str, program: ast.Module | None = None) -> bool:
    """Return whether a source may hold something to translate; a translated source holds nothing new."""
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
    return any(_loops_over_arrays(loop) or _is_elementwise(loop) for loop in _outermost(tree))


def _calculates(node: ast.AST) -> bool:
    """Return whether a node is a loop with arithmetic."""
    return isinstance(node, (ast.For, ast.While)) and any(
        isinstance(node, _NUMERIC) for node in ast.walk(node)
    )


def _outermost(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the functions that are inside no other function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            yield child
        elif isinstance(child, ast.stmt):
            yield from _outermost(child)


def _loops_over_arrays(function: ast.AST) -> bool:
    """Return whether a function has a loop, and an operation that only arrays support."""
    nodes = list(_evaluated_nodes(function))
    return any(isinstance(node, _REPEATS) for node in nodes) and any(map(_shows_arrays, nodes))


def _is_elementwise(function: ast.AST) -> bool:
    """Return whether a function has so much arithmetic on slices that it is worth staging without a loop."""
    operations = (node for node in _evaluated_nodes(function) if isinstance(node, ast.BinOp))
    return sum(map(_calculates_with_slices, operations)) >= ENOUGH


def _evaluated_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without its type annotations."""
    stack = [function]
    while stack:
        node = stack.pop()
        yield node
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        stack += [child for child in ast.iter_child_nodes(node) if child not in annotations]


def _shows_arrays(node: ast.AST) -> bool:
    """Return whether a node can only be about arrays: several axes, a shape, arithmetic on slices."""
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
    """Return whether an expression is a slice, or a sum of slices."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _is_sliced(node.left) or _is_sliced(node.right)
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return any(isinstance(part, ast.Slice) for part in parts)
