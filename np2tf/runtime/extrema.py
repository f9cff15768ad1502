"""`min` and `max` of several values, some of which may be staged; with Python values the builtins."""

from __future__ import annotations

import builtins
from typing import Any

from np2tf import tnp
from np2tf.runtime.control import _staged_test
from np2tf.tnp.ndarray import is_array


def _best(builtin: Any, values: tuple[Any, ...], better: Any) -> Any:
    if not any(is_array(value) and value._host is None for value in values):
        return builtin(*values)
    best = values[0]
    for value in values[1:]:
        test = better(value, best)
        if _staged_test(test) is None:
            best = value if test else best
        else:
            best = tnp.where(test, value, best)
    return best


def min(*values: Any) -> Any:
    """``min(a, b, ...)``: the first of the smallest, as the builtin chooses it."""
    return _best(builtins.min, values, lambda value, best: value < best)


def max(*values: Any) -> Any:
    """``max(a, b, ...)``: the first of the largest, as the builtin chooses it."""
    return _best(builtins.max, values, lambda value, best: value > best)
