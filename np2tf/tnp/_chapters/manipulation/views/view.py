"""The decorator of functions that return views."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import is_array, scalar, wrap_tensor
from np2tf.tnp._dispatch.op import OPS, attach, op
from np2tf.tnp._operands.conversion import to_numpy
from np2tf.tnp._tensor.storage import current_scope


def view(
    numpy: Callable[..., Any], *, method: bool | str = False, numbers: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that makes a NumPy function which returns views. NumPy makes views of arrays on the
    host.

    Args:
        numpy: NumPy's function.
        method: see `op`.
        numbers: whether a number stays a number, because NumPy calls the method of its argument.
    """

    def decorate(implementation: Callable[..., Any]) -> Callable[..., Any]:
        on_tensors = op(numpy)(implementation)

        @functools.wraps(implementation)
        def call(*args: Any, **kwargs: Any) -> Any:
            if args and is_viewed_on_host(args[0]):
                return numpy(*map(to_numpy, args), **{name: to_numpy(item) for name, item in kwargs.items()})
            result = on_tensors(*args, **kwargs)
            if numbers and args and type(args[0]) is scalar and result.ndim == 0:
                return wrap_tensor(result.tensor)
            return result

        call.numpy = numpy  # type: ignore[attr-defined]
        OPS[numpy] = call
        if method:
            attach(method if isinstance(method, str) else implementation.__name__, call)
        return call

    return decorate


def is_viewed_on_host(value: Any) -> bool:
    """Return whether NumPy makes the view of an array: the array is on the host, and nothing is staged."""
    on_host = isinstance(value, np.ndarray) and not is_array(value)
    return on_host and current_scope() is None and tf.executing_eagerly()
