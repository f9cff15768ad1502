"""New arrays from the elements of others: repeated, rolled, inserted, deleted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from np2tf.staging import ShapeNeededError, ValueNeededError, XlaShapeError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._dispatch.argument_types import Array, Axis, Shape
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._dispatch.residency import has_array, has_tensor
from np2tf.tnp._operands.axis_arguments import length
from np2tf.tnp._operands.conversion import as_tensor, to_numpy
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import current_scope, staging_for_xla

__all__ = [
    "delete",
    "insert",
    "repeat",
    "resize",
    "roll",
    "tile",
]


def static_value(value: Any) -> Any:
    """Return `value` as NumPy's; None if it is not known while staging."""
    if not isinstance(value, (ndarray, np.ndarray, tf.Tensor, list, tuple)):
        return value
    # While staging, an array on the host is an input like any other: its contents are not known.
    if isinstance(value, tf.Tensor) or has_tensor((value,)) or (has_array((value,)) and current_scope()):
        tensor = as_tensor(value)
        static = tf.get_static_value(tensor)
        return None if static is None else np.asarray(static)
    return np.asarray(to_numpy(value))


# -- repeated -----------------------------------------------------------------------------------------------


@op(np.repeat, method=True)
def repeat(a: Array, repeats: Any, axis: Axis = None) -> ndarray:
    """Repeat each element along an axis.

    Args:
        a: array of any dtype and shape.
        repeats: number, or array of numbers for the places along the axis.
        axis: the axis to work along; None is the flattened array.

    Returns:
        An array in the dtype of `a`, in its shape except for the length of the axis.

    Raises:
        ValueError: a number is negative.
        StagingError: code is staged for XLA, and the numbers are known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.repeat.html.
    """
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    axis = normalize_axis_index(axis, a.shape.rank)
    counts = static_value(repeats)
    length = a.shape[axis]
    if counts is not None and length is not None:
        return tensor_array(tf.gather(a, np.repeat(np.arange(length), counts), axis=axis))
    if counts is None and staging_for_xla():
        raise XlaShapeError("repeat with counts known only at run time")
    count_tensor = as_tensor(repeats, np.int64)
    record_violation(reduce_any(count_tensor < 0))
    return tensor_array(tf.repeat(a, count_tensor, axis=axis))


@op(np.tile)
def tile(A: Array, reps: Shape) -> ndarray:
    """Repeat a whole array along its axes.

    Args:
        A: array of any dtype and shape.
        reps: the number of repetitions along each axis.

    Returns:
        An array in the dtype of `A`, whose lengths are multiplied by the repetitions.

    See https://numpy.org/doc/stable/reference/generated/numpy.tile.html.
    """
    rank = max(A.shape.rank, len(reps))
    reps = (1,) * (rank - len(reps)) + reps
    wide = A[(None,) * (rank - A.shape.rank) + (...,)]
    return tensor_array(tf.tile(wide, tf.stack([tf.cast(n, tf.int64) for n in reps])) if rank else A)


@op(np.resize)
def resize(a: Array, new_shape: Shape) -> ndarray:
    """Return an array of another shape, with the elements repeated if it is larger.

    Args:
        a: array of any dtype and shape.
        new_shape: the lengths of the axes.

    Returns:
        An array of the new shape, in the dtype of `a`.

    Raises:
        ValueError: a length is negative.
        StagingError: the size of `a` is known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.resize.html.
    """
    if any(n < 0 for n in new_shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    flat = tf.reshape(a, [-1])
    new_size = math.prod(new_shape)
    if flat.shape[0] is None:
        raise ShapeNeededError("resize of an array whose size is known only at run time")
    if flat.shape[0] == 0:
        return tensor_array(tf.zeros(new_shape, a.dtype))
    return tensor_array(tf.reshape(tf.gather(flat, np.arange(new_size) % flat.shape[0]), new_shape))


# -- moved --------------------------------------------------------------------------------------------------


@op(np.roll)
def roll(a: Array, shift: Any, axis: Axis = None) -> ndarray:
    """Shift elements along axes. Elements beyond the end return at the start.

    Args:
        a: array of any dtype and shape.
        shift: the number of places, or one number for each axis.
        axis: the axis or axes; None is the flattened array, which then gets its shape back.

    Returns:
        An array in the shape and dtype of `a`.

    Raises:
        ValueError: there are not as many shifts as axes.

    See https://numpy.org/doc/stable/reference/generated/numpy.roll.html.
    """
    if axis is None:
        flat_result = _roll_axis(tf.reshape(a, [-1]), shift, 0)
        return tensor_array(tf.reshape(flat_result, tf.shape(a) if None in a.shape.as_list() else a.shape))
    axes = normalize_axis_tuple(axis, a.shape.rank, allow_duplicate=True)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    elif len(axes) == 1:
        axes = axes * len(shifts)
    elif len(shifts) != len(axes):
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    for amount, k in zip(shifts, axes, strict=True):
        a = _roll_axis(a, amount, k)
    return tensor_array(a)


def _roll_axis(a: tf.Tensor, shift: Any, axis: int) -> tf.Tensor:
    length = a.shape[axis]
    amount = static_value(shift)
    if amount is None or length is None:
        return tf.roll(a, as_tensor(shift, np.int64), axis)
    amount = int(amount) % length if length else 0
    if amount == 0:
        return a
    before = (slice(None),) * axis
    return tf.concat(
        [a[(*before, slice(length - amount, None))], a[(*before, slice(None, length - amount))]], axis
    )


# -- longer and shorter -------------------------------------------------------------------------------------


@op(np.insert)
def insert(arr: Array, obj: Any, values: Any, axis: Axis = None) -> ndarray:
    """Insert values before given indices of an axis.

    Args:
        arr: array of any dtype and shape.
        obj: index, indices, slice or boolean mask.
        values: array of values, which broadcasts to the shape of the inserted part.
        axis: the axis to work along; None is the flattened array.

    Returns:
        An array in the dtype of `arr`, longer along the axis; without an axis it has one axis.

    Raises:
        IndexError: an index is out of bounds or not an integer.
        ValueError: `obj` has more than one axis.
        StagingError: the index or the length of the axis is known only at run time, and code is staged for
            XLA, or there are several indices.

    See https://numpy.org/doc/stable/reference/generated/numpy.insert.html.
    """
    if axis is None:
        arr, axis = tf.reshape(arr, [-1]), 0
    axis = normalize_axis_index(axis, arr.shape.rank)
    length, where = arr.shape[axis], static_value(obj)
    is_open = None in arr.shape.as_list() or where is None
    if is_open and (staging_for_xla() or not _is_place(obj)):
        raise ShapeNeededError("insert at places, or into an array of a length, known only at run time")
    new = as_tensor(values, arr.dtype.as_numpy_dtype)
    new = new[(None,) * max(arr.shape.rank - new.shape.rank, 0) + (...,)]
    if is_open:
        return tensor_array(_insert_at(arr, as_tensor(obj, np.int64), new, axis))
    places = np.arange(length)[where] if isinstance(where, slice) else np.asarray(where)
    if places.dtype == bool:
        places = np.flatnonzero(places)
    if places.size == 0 and not isinstance(where, np.ndarray):
        places = places.astype(int)
    if places.dtype.kind not in "iu":
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if places.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    bad = places[(places < -length) | (places > length)] if places.ndim else places
    if np.any((places < -length) | (places > length)):
        raise IndexError(f"index {int(np.ravel(bad)[0])} is out of bounds for axis {axis} with size {length}")
    places = np.where(places < 0, places + length, places).astype(int)
    if places.size == 1:
        if places.ndim == 0:
            new = tf.experimental.numpy.moveaxis(new, 0, axis)
        count = new.shape[axis]
        places = places.reshape(()) + np.arange(count)
    else:
        count = len(places)
        order = places.argsort(kind="stable")
        places[order] += np.arange(count)
    target = [count if k == axis else n for k, n in enumerate(arr.shape.as_list())]
    source = np.empty(length + count, np.int64)
    old = np.ones(length + count, bool)
    old[places] = False
    source[places] = length + np.arange(count)
    source[old] = np.arange(length)
    return tensor_array(tf.gather(tf.concat([arr, tf.broadcast_to(new, target)], axis), source, axis=axis))


def _is_place(obj: Any) -> bool:
    """Return whether an index is a whole number, known or not."""
    if isinstance(obj, (bool, slice, list, tuple)):
        return False
    place = as_tensor(obj)
    return place.shape.rank == 0 and place.dtype.is_integer


def _staged_place(place: tf.Tensor, length: Any, last: Any) -> tf.Tensor:
    """Return a place of an axis counted from the front. A place out of bounds records a violation.

    Args:
        place: the place, which may be negative.
        length: the length of the axis.
        last: the last place.
    """
    record_violation((place < -length) | (place > last))
    return tf.where(place < 0, place + length, place)


def _insert_at(arr: tf.Tensor, place: tf.Tensor, new: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the array with values, which broadcast to the inserted part, before a place of an axis."""
    n = length(arr, (axis,))
    place = _staged_place(place, n, n)
    new = tf.experimental.numpy.moveaxis(new, 0, axis)
    part = [length(new if k == axis else arr, (k,)) for k in range(arr.shape.rank)]
    new = tf.broadcast_to(new, tf.stack([tf.cast(n, tf.int64) for n in part]))
    before = (slice(None),) * axis
    return tf.concat([arr[(*before, slice(place))], new, arr[(*before, slice(place, None))]], axis)


@op(np.delete)
def delete(arr: Array, obj: Any, axis: Axis = None) -> ndarray:
    """Remove slices of an array along an axis.

    Args:
        arr: array of any dtype and shape.
        obj: index, indices, slice or boolean mask.
        axis: the axis to work along; None is the flattened array.

    Returns:
        An array in the dtype of `arr`, shorter along the axis; without an axis it has one axis.

    Raises:
        IndexError: an index is out of bounds.
        StagingError: several indices are known only at run time, or the length of the axis is, and code is
            staged for XLA, or there are several indices.

    See https://numpy.org/doc/stable/reference/generated/numpy.delete.html.
    """
    if axis is None:
        arr, axis = tf.reshape(arr, [-1]), 0
    axis = normalize_axis_index(axis, arr.shape.rank)
    where = static_value(obj)
    if arr.shape[axis] is None:
        if staging_for_xla() or not _is_place(obj):
            raise ShapeNeededError("delete from an axis whose length is known only at run time")
    elif where is not None:
        return tensor_array(tf.gather(arr, np.delete(np.arange(arr.shape[axis]), where), axis=axis))
    place = as_tensor(obj, np.int64)
    if place.shape.rank != 0:
        raise ValueNeededError("delete at places known only at run time")
    n = length(arr, (axis,))
    return tensor_array(_without_place(arr, n, _staged_place(place, n, n - 1), axis))


def _without_place(arr: tf.Tensor, length: Any, place: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the array without a place of an axis of a given length."""
    indices = tf.range(length - 1, dtype=tf.int64)
    return tf.gather(arr, indices + tf.cast(indices >= place, tf.int64), axis=axis)
