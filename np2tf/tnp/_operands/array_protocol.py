"""Objects whose `__array__` returns an array on TensorFlow, which NumPy's own functions refuse."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._operands.conversion import MOST_AXES, to_numpy

#: NumPy's message for an object whose `__array__` did not return an np.ndarray.
_REFUSAL = "__array__ method not producing an array"


class _ArrayProtocolWrapper:
    """A wrapper of an object with `__array__`: if this returns a tensor, the wrapper returns np.ndarray."""

    def __init__(self, original: Any) -> None:
        self._original = original

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return to_numpy(self._original.__array__(*args, **kwargs))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


def _wrap_for_numpy(value: Any, depth: int = MOST_AXES, *, may_leave: bool = False) -> Any:
    """Return `value` for NumPy, with every object that has `__array__` wrapped (see `to_numpy`)."""
    kind = type(value)
    if kind in (list, tuple) and depth:
        return kind([_wrap_for_numpy(item, depth - 1, may_leave=may_leave) for item in value])
    if is_array(value) or isinstance(value, (np.ndarray, np.generic)) or not hasattr(kind, "__array__"):
        return to_numpy(value, may_leave=may_leave)
    return _ArrayProtocolWrapper(value)


def call_with_protocol(
    function: Callable[..., Any], args: Iterable[Any], kwargs: Mapping[str, Any], *, may_leave: bool = False
) -> Any:
    """Call a function of NumPy. If it refuses the result of an `__array__`, call it again with wrapped
    objects.

    Args:
        function: NumPy's function.
        args: its positional arguments, which are converted here.
        kwargs: its keyword arguments, already converted.
        may_leave: see `to_numpy`.
    """
    args = tuple(args)
    try:
        return function(*(to_numpy(arg, may_leave=may_leave) for arg in args), **kwargs)
    except ValueError as error:
        if _REFUSAL not in str(error):
            raise
    wrap = functools.partial(_wrap_for_numpy, may_leave=may_leave)
    return function(*map(wrap, args), **{name: wrap(value) for name, value in kwargs.items()})
