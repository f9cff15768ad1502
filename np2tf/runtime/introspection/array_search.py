"""Finds out whether a call involves arrays: a function whose text shows no arrays may be called with any
values.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

import numpy as np

from np2tf.pytree.registry import SEARCHED_CONTAINERS
from np2tf.runtime.introspection.code_names import all_names
from np2tf.runtime.introspection.user_objects import INSTANCE
from np2tf.tnp._front.front import Function

#: The depth of the search in the arguments, and the number of items of each container.
DEEPEST, WIDEST = 3, 16


def names_numpy(values: Iterable[Any]) -> bool:
    """Return whether the values that a function reads by name include NumPy, np2tf.tnp or their functions."""
    return any(
        isinstance(value, (Function, np.ufunc))
        or (isinstance(value, types.ModuleType) and value.__name__ in ("np2tf.tnp", "numpy"))
        for value in values
    )


def code_names_numpy(function: Callable[..., Any]) -> bool:
    """Return whether the function's own code reads such a value."""
    code, space = getattr(function, "__code__", None), getattr(function, "__globals__", {})
    return code is not None and names_numpy(space.get(name) for name in all_names(code))


def holds_array(values: Iterable[Any], depth: int = DEEPEST) -> bool:
    """Return whether the values, or containers and objects among them, include a NumPy array."""
    return any(_is_or_holds(value, depth) for value in islice(values, WIDEST))


def _is_or_holds(value: Any, depth: int) -> bool:
    if isinstance(value, np.ndarray):
        return True
    if depth == 0 or value is None or isinstance(value, (str, int, float)):
        return False
    if isinstance(value, types.MethodType):
        return _is_or_holds(value.__self__, depth)
    return holds_array(_SEARCHED_CONTAINERS.items(value), depth - 1)


_SEARCHED_CONTAINERS = SEARCHED_CONTAINERS | (INSTANCE,)
