"""Padded arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError, ShapeNeededError, ValueNeededError
from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.manipulation.rearrange import static_value
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axis_arguments import length
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._tensor.dtype_dispatch import needs_derivatives
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import staging_for_xla

__all__ = ["pad"]

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
    """Add elements around an array.

    Args:
        array: array of any dtype and shape.
        pad_width: number of elements: one number, a pair (before, after), or one pair for each axis.
        mode: "constant", "empty", "edge", "reflect", "symmetric" or "wrap".
        constant_values: the values for mode "constant", in the same forms as `pad_width`.
        end_values: a keyword of a mode that only NumPy has.
        stat_length: a keyword of a mode that only NumPy has.
        reflect_type: a keyword that only NumPy has.

    Returns:
        An array in the dtype of `array`, longer along each axis.

    Raises:
        TypeError: the widths are not integers.
        ValueError: a width is negative, or `constant_values` is given for another mode.
        StagingError: only NumPy has the mode or keyword, or the widths are known only at run time.

    See https://numpy.org/doc/stable/reference/generated/numpy.pad.html.
    """
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
