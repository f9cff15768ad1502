"""The iterables of a `for` besides ranges: arrays, and `enumerate`, `zip` and `reversed` of arrays.

As a function, the loop counts, and indexes its elements:

    for i, v in enumerate(x):      for _np2tf_k in range(_np2tf_start, _np2tf_stop):
        s += i * v                     i, v = (_np2tf_k, _np2tf_items_0[_np2tf_k])
                                       s += i * v
"""

from __future__ import annotations

import ast
from typing import NamedTuple

ITEMS, COUNTER = "_np2tf_items_", "_np2tf_k"


class Items(NamedTuple):
    """The elements of a loop.

    Attributes:
        kind: "items", "enumerate", "zip", "enumerate zip" or "reversed".
        arrays: the number of arrays that they come from.
    """

    kind: str
    arrays: int

    @property
    def text(self) -> str:
        """The source of an expression for the element of an iteration."""
        elements = [f"{ITEMS}{k}[{COUNTER}]" for k in range(self.arrays)]
        if self.kind == "reversed":
            return f"{ITEMS}0[-1 - {COUNTER}]"
        element = f"({', '.join(elements)},)" if self.kind.endswith("zip") else elements[0]
        return f"({COUNTER}, {element})" if self.kind.startswith("enumerate") else element


def items_of(loop: ast.For) -> Items | None:
    """Return the kind of a loop's iterable; None if it is certainly no array."""
    if not _is_clear(loop):
        return None
    call = _builtin_call(loop.iter)
    if call is None:
        return None if isinstance(loop.iter, _NO_ARRAYS) else Items("items", 1)
    name, arguments = call
    if name == "enumerate" and len(arguments) == 1:
        inner = _builtin_call(arguments[0])
        if inner is None:
            return Items("enumerate", 1)
        return Items("enumerate zip", len(inner[1])) if inner[0] == "zip" and inner[1] else None
    if name == "zip" and arguments:
        return Items("zip", len(arguments))
    return Items("reversed", 1) if name == "reversed" and len(arguments) == 1 else None


#: Expressions whose values are no arrays.
_NO_ARRAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set, ast.Constant, ast.GeneratorExp, ast.ListComp)
#: Builtins whose results are no arrays.
_BUILTINS = frozenset({"enumerate", "zip", "reversed", "range", "map", "filter", "sorted", "list", "open"})


def _builtin_call(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """Return the builtin that an expression calls, and its arguments, which are empty if they are not
    clear.
    """
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in _BUILTINS:
        return None
    clear = not node.keywords and not any(isinstance(argument, ast.Starred) for argument in node.args)
    return node.func.id, node.args if clear else []


def _is_clear(loop: ast.For) -> bool:
    """Return whether a loop binds only names, and its header and its body are on lines of their own."""
    header = loop.iter.end_lineno or 0
    if loop.target.lineno != loop.target.end_lineno or loop.body[0].lineno <= header:
        return False
    parts = (node for node in ast.walk(loop.target) if isinstance(node, ast.expr))
    return all(isinstance(node, (ast.Name, ast.Tuple)) for node in parts)
