"""Axis arguments: negative numbers, tuples and None, with NumPy's errors."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_tuple

from np2tf.staging import ShapeNeededError
from np2tf.tnp._tensor.reductions_of_axes import reduce_prod

#: The largest number of axes of NumPy's arrays.
MOST_AXES = 64


def checked_rank(count: int) -> int:
    """Return a number of axes after a check of NumPy's limit.

    Raises:
        ValueError: an array cannot have so many axes.
    """
    if count > MOST_AXES:
        raise ValueError(
            f"maximum supported dimension for an ndarray is currently {MOST_AXES}, found {count}"
        )
    return count


def rank_of(x: tf.Tensor) -> int:
    """Return the number of axes.

    Raises:
        StagingError: the number is known only at run time.
    """
    if x.shape.rank is None:
        raise ShapeNeededError.of(what="the rank of an array")
    return x.shape.rank


def normalize_axis(axis: Any, ndim: int, prefix: str | None = None) -> int:
    """Return `axis` counted from the front.

    Raises:
        np.exceptions.AxisError: the axis is out of bounds.
    """
    position = operator.index(axis)
    if not -ndim <= position < ndim:
        raise np.exceptions.AxisError(position, ndim, prefix)
    return position + ndim if position < 0 else position


def normalize_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return `axis` (None for all, a number, or several) as a tuple of axes counted from the front.

    Raises:
        np.exceptions.AxisError: an axis is out of bounds.
        ValueError: an axis occurs twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, (tuple, list)):
        # NumPy allows the axes 0 and -1 of a number in reductions.
        return () if ndim == 0 and axis in (0, -1) else (normalize_axis(axis, ndim),)
    axes = tuple(normalize_axis(item, ndim) for item in axis)
    if len(set(axes)) != len(axes):
        raise ValueError("duplicate value in 'axis'")
    return axes


def refuse_axis_of_number(axis: Any, x: tf.Tensor) -> None:
    """Raise NumPy's error for an axis of a number, in a function that is not a reduction of a ufunc.

    Raises:
        np.exceptions.AxisError: `axis` names an axis, and `x` has none.
    """
    if rank_of(x) == 0 and axis is not None:
        normalize_axis_tuple(axis, 0)


def flatten_for_axis(x: tf.Tensor, axis: Any) -> tuple[tf.Tensor, int]:
    """Return the array and the axis to work along; for an axis of None, the flattened array and 0."""
    if axis is None or (rank_of(x) == 0 and axis in (0, -1)):
        return (x if rank_of(x) == 1 else tf.reshape(x, (-1,))), 0
    return x, normalize_axis(axis, rank_of(x))


def length(x: tf.Tensor, axes: tuple[int, ...]) -> int | tf.Tensor:
    """Return the number of elements along `axes`: an int if it is known, otherwise a tensor."""
    static = [x.shape[axis] for axis in axes]
    if None not in static:
        return int(np.prod(static, dtype=np.int64))
    shape = tf.shape(x, out_type=tf.int64)
    return reduce_prod(tf.gather(shape, list(axes)))
