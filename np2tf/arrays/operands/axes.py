"""Axis arguments with NumPy's errors; slices, lengths and permutations of axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_tuple

from np2tf.arrays.tensors.axis_reductions import reduce_prod
from np2tf.core.errors import ShapeNeededError

# -- axis arguments ------------------------------------------------------------------------------------------
# Axis arguments: negative numbers, tuples and None, with NumPy's errors.

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


# -- axes ----------------------------------------------------------------------------------------------------
# Slices, lengths and permutations of the axes of a tensor.


def slice_along(x: tf.Tensor, axis: int, start: int | None, stop: int | None) -> tf.Tensor:
    """``x[..., start:stop, ...]`` along an axis."""
    return x[(*[slice(None)] * axis, slice(start, stop))]


def difference_along(x: tf.Tensor, axis: int) -> tf.Tensor:
    after, before = slice_along(x, axis, 1, None), slice_along(x, axis, None, -1)
    return tf.not_equal(after, before) if x.dtype == tf.bool else after - before


def lengths_of(x: tf.Tensor, axes: Sequence[int]) -> list[Any]:
    """Return the lengths of the given axes; a length that is known only at run time is a tensor."""
    sizes = x.shape.as_list()
    return [tf.shape(x)[k] if sizes[k] is None else sizes[k] for k in axes]


def product_of(sizes: Sequence[Any]) -> Any:
    """The number of elements in a block of these lengths."""
    if all(isinstance(size, int) for size in sizes):
        return math.prod(sizes)
    return reduce_prod(tf.stack([tf.cast(size, tf.int32) for size in sizes]))


def permute_axes(x: tf.Tensor, permutation: Sequence[int]) -> tf.Tensor:
    """Return `x` with its axes in another order; `x` itself if the order is the same."""
    return x if list(permutation) == list(range(len(permutation))) else tf.transpose(x, permutation)
