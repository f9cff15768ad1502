"""`min` and `max` of several values, some of which may be staged; with Python values the builtins."""

from __future__ import annotations

import builtins
from typing import Any

from np2tf.runtime.control import cond
from np2tf.tnp.ndarray import is_array
from np2tf.tnp.weak import is_weak, weak_binary, weak_kind


def _best(builtin: Any, values: tuple[Any, ...], operation: str, better: Any) -> Any:
    if not any(is_array(value) and value._host is None for value in values):
        return builtin(*values)
    best = values[0]
    for value in values[1:]:
        if _is_integer(value) and _is_integer(best):
            best = weak_binary(operation, value, best)
        else:
            best = cond(better(value, best), lambda value=value: value, lambda best=best: best)
    return best


def _is_integer(value: Any) -> bool:
    """Whether `value` is a Python integer, staged or not: then what is known about its bounds is kept."""
    return is_weak(value) and weak_kind(value) is int


def min(*values: Any) -> Any:
    """``min(a, b, ...)``: the first of the smallest, as the builtin chooses it."""
    return _best(builtins.min, values, "minimum", lambda value, best: value < best)


def max(*values: Any) -> Any:
    """``max(a, b, ...)``: the first of the largest, as the builtin chooses it."""
    return _best(builtins.max, values, "maximum", lambda value, best: value > best)
