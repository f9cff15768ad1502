"""Truth over axes: whether any or all elements are true, and how many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import weak_scalar
from np2tf.tnp._chapters.reductions.primitives import (
    apply_where,
    raw_all,
    raw_any,
    raw_sum,
)
from np2tf.tnp._dispatch.argument_types import Array, Axis
from np2tf.tnp._dispatch.op import attach, call_numpy, op
from np2tf.tnp._operands.axis_arguments import (
    normalize_axes,
    rank_of,
)
from np2tf.tnp._ufuncs.comparison import truth

__all__ = ["all", "any", "count_nonzero"]


@op(np.any)
def any(
    a: Array, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> tf.Tensor:
    """Return whether any element is true, over axes.

    Args:
        a: array of any dtype; numbers other than 0 are true.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Returns:
        An array of booleans.

    See https://numpy.org/doc/stable/reference/generated/numpy.any.html.
    """
    return raw_any(apply_where(truth(a), where, False), normalize_axes(axis, rank_of(a)), keepdims)


@op(np.all)
def all(
    a: Array, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> tf.Tensor:
    """Return whether all elements are true, over axes.

    Args:
        a: array of any dtype; numbers other than 0 are true.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Returns:
        An array of booleans.

    See https://numpy.org/doc/stable/reference/generated/numpy.all.html.
    """
    return raw_all(apply_where(truth(a), where, True), normalize_axes(axis, rank_of(a)), keepdims)


def _truth_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of a function; the method has a parameter `dtype`, which the function lacks."""
    numpy = getattr(np.ndarray, function.__name__)

    def method(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        *,
        where: Any = True,
    ) -> Any:
        if dtype is None:
            return function(a, axis, out, keepdims, where=where)
        return call_numpy(numpy, (a, axis, dtype, out, keepdims), {"where": where})

    return method


attach("any", _truth_method(any))
attach("all", _truth_method(all))


@op(np.count_nonzero)
def count_nonzero(a: Array, axis: Axis = None, *, keepdims: Any = False) -> Any:
    """Return the number of elements that are not 0, over axes.

    Args:
        a: array of any dtype.
        axis: the axis or axes to reduce; None is all of them.
        keepdims: whether the reduced axes remain with length 1.

    Returns:
        An array of int64; before NumPy 2.3, an int if all axes are reduced.

    See https://numpy.org/doc/stable/reference/generated/numpy.count_nonzero.html.
    """
    count = raw_sum(tf.cast(truth(a), tf.int64), normalize_axes(axis, rank_of(a)), keepdims)
    if axis is None and not keepdims and _COUNTS_ARE_PYTHONS:
        return int(count.numpy()) if hasattr(count, "numpy") else weak_scalar(count, int)
    return count


#: Before NumPy 2.3.
_COUNTS_ARE_PYTHONS = isinstance(np.count_nonzero(()), int)
