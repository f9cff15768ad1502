"""trim_zeros: removes the zeros at the borders of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import ndarray, wrap_tensor
from np2tf.tnp._chapters.manipulation.views.view import view
from np2tf.tnp._dispatch.argument_types import Axis, View
from np2tf.tnp._dispatch.host_results import host_only
from np2tf.tnp._dispatch.op import OPS
from np2tf.tnp._front.numpy_version import NUMPY
from np2tf.tnp._tensor.reductions_of_axes import reduce_any, reduce_max, reduce_min

__all__ = ["trim_zeros"]


#: True if NumPy trims arrays of several axes. NumPy 2.1 asks for the truth value of each row.
_ANY_AXES = NUMPY >= (2, 2)
_AMBIGUOUS = "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"


@view(np.trim_zeros)
def _trim_array(filt: View, trim: str = "fb", axis: Axis = None) -> ndarray:
    """Return the view of an array without the zeros around it.

    See https://numpy.org/doc/stable/reference/generated/numpy.trim_zeros.html.
    """
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
    """Return an array without the zeros at its borders, as a view; a list is trimmed to a list.

    Args:
        filt: array or sequence.
        *args: `trim` ("f", "b" or "fb": the sides) and `axis`.
        **kwargs: the same arguments by name.

    Raises:
        ValueError: `trim` is unknown.
        StagingError: NumPy is older than 2.2, and `filt` does not have one axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.trim_zeros.html.
    """
    # A list is trimmed to a list.
    return (_of_known if isinstance(filt, (list, tuple)) else _trim_array)(filt, *args, **kwargs)


OPS[np.trim_zeros] = trim_zeros
