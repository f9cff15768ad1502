"""`min` and `max` of several values, some of which may be staged; for Python values they are the builtins."""

from __future__ import annotations

import builtins
from typing import Any

from np2tf.runtime.staged_operators.builtins import extreme
from np2tf.runtime.staged_operators.control import cond
from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._operands.python_scalars import is_weak, weak_binary, weak_kind
from np2tf.tnp._tensor.reductions_of_axes import reduce_max, reduce_min


def _best(builtin: Any, values: tuple[Any, ...], operation: str, better: Any) -> Any:
    if not any(map(is_array, values)):
        return builtin(*values)
    best = values[0]
    for value in values[1:]:
        if _is_integer(value) and _is_integer(best):
            best = weak_binary(operation, value, best)
        else:
            best = cond(better(value, best), lambda value=value: value, lambda best=best: best)
    return best


def _is_integer(value: Any) -> bool:
    """Return whether `value` is a Python integer, staged or not, whose known bounds are kept."""
    return is_weak(value) and weak_kind(value) is int


def _among(builtin: Any, iterable: Any, operation: Any, worst: int) -> Any:
    """Return the smallest or largest of the items of one iterable."""
    best = extreme(iterable, operation, worst)
    if best is not None:
        return best
    items = list(iterable)
    return builtin(items) if len(items) < 2 else (min if builtin is builtins.min else max)(*items)


def min(*values: Any) -> Any:
    """Return ``min(a, b, ...)`` or ``min(x)``: the first of the smallest values, as the builtin chooses it.

    Args:
        *values: numbers or arrays of one element, or a single iterable; they may be staged.

    See https://docs.python.org/3/library/functions.html#min.
    """
    if len(values) == 1:
        return _among(builtins.min, values[0], reduce_min, 1)
    return _best(builtins.min, values, "minimum", lambda value, best: value < best)


def max(*values: Any) -> Any:
    """Return ``max(a, b, ...)`` or ``max(x)``: the first of the largest values, as the builtin chooses it.

    Args:
        *values: numbers or arrays of one element, or a single iterable; they may be staged.

    See https://docs.python.org/3/library/functions.html#max.
    """
    if len(values) == 1:
        return _among(builtins.max, values[0], reduce_max, -1)
    return _best(builtins.max, values, "maximum", lambda value, best: value > best)
