"""New arrays of the elements of others: repeated, rolled, inserted, deleted, padded, trimmed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from tensorflow.python.ops.numpy_ops import np_array_ops

from np2tf.arrays.array.ndarray import ndarray, tensor_array, wrap_tensor
from np2tf.arrays.dispatch.host_fallback import host_only
from np2tf.arrays.dispatch.op import OPS, Array, Axis, Shape, View, op
from np2tf.arrays.dispatch.placement import has_array, has_tensor
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.functions.reshape import view
from np2tf.arrays.operands.axes import length
from np2tf.arrays.operands.conversion import as_tensor, to_numpy
from np2tf.arrays.tensors.axis_reductions import reduce_any, reduce_max, reduce_min
from np2tf.arrays.tensors.dtype_dispatch import needs_derivatives
from np2tf.arrays.tensors.storage import current_scope, staging_for_xla
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import NoGraphFormError, ShapeNeededError, ValueNeededError, XlaShapeError

__all__ = [
    "delete",
    "insert",
    "pad",
    "repeat",
    "resize",
    "roll",
    "tile",
    "trim_zeros",
]


# -- rearrange -----------------------------------------------------------------------------------------------
# New arrays from the elements of others: repeated, rolled, inserted, deleted.


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
    """Repeat each element along an axis."""
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
    """Repeat a whole array along its axes."""
    rank = max(A.shape.rank, len(reps))
    reps = (1,) * (rank - len(reps)) + reps
    wide = A[(None,) * (rank - A.shape.rank) + (...,)]
    return tensor_array(tf.tile(wide, tf.stack([tf.cast(n, tf.int64) for n in reps])) if rank else A)


@op(np.resize)
def resize(a: Array, new_shape: Shape) -> ndarray:
    """Return an array of another shape, with the elements repeated if it is larger."""
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
    """Shift elements along axes. Elements beyond the end return at the start."""
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
    """Insert values before given indices of an axis."""
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
            new = np_array_ops.moveaxis(new, 0, axis)
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
    """Return a place of an axis counted from the front. A place out of bounds records a violation."""
    record_violation((place < -length) | (place > last))
    return tf.where(place < 0, place + length, place)


def _insert_at(arr: tf.Tensor, place: tf.Tensor, new: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the array with values, which broadcast to the inserted part, before a place of an axis."""
    n = length(arr, (axis,))
    place = _staged_place(place, n, n)
    new = np_array_ops.moveaxis(new, 0, axis)
    part = [length(new if k == axis else arr, (k,)) for k in range(arr.shape.rank)]
    new = tf.broadcast_to(new, tf.stack([tf.cast(n, tf.int64) for n in part]))
    before = (slice(None),) * axis
    return tf.concat([arr[(*before, slice(place))], new, arr[(*before, slice(place, None))]], axis)


@op(np.delete)
def delete(arr: Array, obj: Any, axis: Axis = None) -> ndarray:
    """Remove slices of an array along an axis."""
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


# -- padding -------------------------------------------------------------------------------------------------
# Padded arrays.

_GATHER_MODES = frozenset({"edge", "reflect", "symmetric", "wrap"})
_ABSENT = object()


@op(np.pad)
def pad(
    array: Array,
    pad_width: Any,
    mode: Any = "constant",
    *,
    constant_values: Any = _ABSENT,
    end_values: Any = _ABSENT,
    stat_length: Any = _ABSENT,
    reflect_type: Any = _ABSENT,
) -> ndarray:
    """Add elements around an array."""
    if mode != "constant" and constant_values is not _ABSENT:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {{'constant_values'}}")
    if {*map(id, (end_values, stat_length, reflect_type))} != {id(_ABSENT)}:
        raise NoGraphFormError("pad with the keywords of its other modes")
    width = static_value(pad_width)
    if width is None or isinstance(width, dict):
        raise ValueNeededError("pad by widths known only at run time, or given as a dict")
    if mode in _GATHER_MODES and None in array.shape.as_list() and staging_for_xla():
        raise ShapeNeededError("pad of an array whose shape is known only at run time")
    if np.asarray(width).dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    rank = array.shape.rank
    pairs = np.broadcast_to(width, (rank, 2)).tolist()
    if rank == 0:
        return tensor_array(array)
    if np.any(np.asarray(pairs) < 0):
        raise ValueError("index can't contain negative values")
    if mode in ("constant", "empty"):
        return tensor_array(_pad_constant(array, pairs, 0 if constant_values is _ABSENT else constant_values))
    if mode not in _GATHER_MODES:
        raise NoGraphFormError(f"pad with mode {mode!r}")
    for k, pair in enumerate(pairs):
        if any(pair):
            n = array.shape[k]
            is_open = n is None
            places = (
                _margins(length(array, (k,)), pair, mode) if is_open else np.pad(np.arange(n), pair, mode)
            )
            array = tf.gather(array, places, axis=k)
    return tensor_array(array)


def _margins(n: tf.Tensor, pair: list[int], mode: str) -> tf.Tensor:
    """Return the places that NumPy copies to an axis of unknown length and to its margins."""
    record_violation(tf.equal(n, 0))
    places = tf.range(-pair[0], n + pair[1])
    if mode == "edge":
        return tf.clip_by_value(places, 0, n - 1)
    if mode == "wrap":
        return places % n
    # A mirrored axis repeats after this number of places; "symmetric" repeats the outermost elements.
    period = 2 * n if mode == "symmetric" else tf.maximum(2 * n - 2, 1)
    places %= period
    return tf.minimum(places, 2 * n - 1 - places if mode == "symmetric" else 2 * n - 2 - places)


def _pad_constant(array: tf.Tensor, pairs: list[list[int]], values: Any) -> tf.Tensor:
    fill = as_tensor(values, array.dtype.as_numpy_dtype)
    if fill.shape.rank == 0:
        return _pad_with(array, pairs, fill)
    fill_values = tf.broadcast_to(fill, (len(pairs), 2))
    for k, (before, after) in enumerate(pairs):
        for count, value, first in ((before, fill_values[k, 0], True), (after, fill_values[k, 1], False)):
            margins = [[0, 0] if j != k else [count, 0] if first else [0, count] for j in range(len(pairs))]
            array = _pad_with(array, margins, value)
    return array


def _pad_with(array: tf.Tensor, margins: list[list[int]], value: tf.Tensor) -> tf.Tensor:
    if not needs_derivatives():
        return tf.pad(array, margins, constant_values=value)
    # TensorFlow's operation has no derivative by the value.
    is_inner = tf.pad(tf.ones_like(array, tf.bool), margins)
    return tf.where(is_inner, tf.pad(array, margins), value)


# -- trim ----------------------------------------------------------------------------------------------------
# trim_zeros: removes the zeros at the borders of an array.

#: True if NumPy trims arrays of several axes. NumPy 2.1 asks for the truth value of each row.
_ANY_AXES = NUMPY >= (2, 2)
_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


@view(np.trim_zeros)
def _trim_array(filt: View, trim: str = "fb", axis: Axis = None) -> ndarray:
    """Return the view of an array without the zeros around it."""
    sides = trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    values = filt.tensor
    rank = values.shape.rank
    if rank != 1 and not _ANY_AXES:
        rows = values.shape[0] if rank else None
        if rows == 0:
            return filt
        if rows and (values.shape[1:].num_elements() or 0) > 1:
            raise ValueError(_AMBIGUOUS)
        raise NoGraphFormError("trim_zeros of several axes")
    if NUMPY < (2, 3) and axis is not None and rank != 1:
        axis = normalize_axis_index(axis, rank)  # NumPy 2.2 takes no sequence
    axes = tuple(range(rank)) if axis is None else normalize_axis_tuple(axis, rank, argname="axis")
    if not axes and NUMPY >= (2, 3):
        return filt
    nonzero = values if values.dtype == tf.bool else tf.not_equal(values, tf.zeros((), values.dtype))
    key = [_nonzero_slice(nonzero, k, sides) if k in axes else slice(None) for k in range(rank)]
    result: ndarray = filt[tuple(key)]  # type: ignore[index]
    return result


def _nonzero_slice(nonzero: tf.Tensor, axis: int, sides: str) -> slice:
    """Return the slice along an axis from the first to the last element that is not zero."""
    rank = nonzero.shape.rank
    there = reduce_any(nonzero, [k for k in range(rank) if k != axis])
    length = tf.shape(there, tf.int64)[0]
    somewhere = reduce_any(nonzero)
    places = tf.range(length)
    first = reduce_min(tf.where(there, places, length))
    last = reduce_max(tf.where(there, places, -tf.ones((), tf.int64))) + 1
    # An array of zeros is trimmed to an empty array, whichever side is trimmed.
    start = tf.where(somewhere, first, 0) if "f" in sides else None
    stop = tf.where(somewhere, last, 0) if "b" in sides else tf.where(somewhere, length, 0)
    return slice(_number(start), _number(stop))


def _number(place: Any) -> Any:
    """Return an end of a slice: an int if it is known, else a staged scalar."""
    if place is None:
        return None
    static_value = tf.get_static_value(place)
    return wrap_tensor(place) if static_value is None else int(static_value)


_of_known = host_only(np.trim_zeros)


def trim_zeros(filt: Any, *args: Any, **kwargs: Any) -> Any:
    """Return an array without the zeros at its borders, as a view; a list is trimmed to a list."""
    # A list is trimmed to a list.
    return (_of_known if isinstance(filt, (list, tuple)) else _trim_array)(filt, *args, **kwargs)


OPS[np.trim_zeros] = trim_zeros
