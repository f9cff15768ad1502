"""`reduceat` of ufuncs on tensors: one reduction for each of several slices."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import tensor_array
from np2tf.tnp._operands.axis_arguments import normalize_axis, rank_of
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._ufuncs.tensor_ufunc import Ufunc

#: The largest number of slices.
_MAX_SLICES = 64


def reduceat(ufunc: Ufunc, array: Any, indices: Any, axis: int, dtype: np.dtype[Any]) -> Any:
    """Return `ufunc.reduceat` for indices that are known while staging.

    Args:
        ufunc: the ufunc.
        array: array of any shape.
        indices: vector of the starts of the slices.
        axis: the axis to reduce along.
        dtype: the dtype in which NumPy computes.

    Raises:
        IndexError: an index is out of bounds.
        ValueError: the indices are not a vector.
        StagingError: the indices are not known, none or too many, or the ufunc has no reduction on tensors.
    """
    x = as_tensor(array)
    along = normalize_axis(axis, rank_of(x))
    starts = tf.get_static_value(as_tensor(indices, np.int64))
    length = x.shape[along]
    reduce = Ufunc.reducers.get(ufunc.__name__)
    if starts is None or length is None or reduce is None or np.size(starts) > _MAX_SLICES:
        raise NoGraphFormError(f"{ufunc.__name__}.reduceat")
    if starts.ndim != 1:
        raise ValueError("object too deep for desired array")
    for start in starts:
        if not 0 <= start < length:
            raise IndexError(f"index {start} out-of-bounds in {ufunc.__name__}.reduceat [0, {length})")
    parts = []
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), length]):
        # If an index is not below the next index, the slice is the element at the index.
        piece = tf.gather(x, tf.range(start, max(stop, start + 1)), axis=along)
        parts.append(as_tensor(reduce(tensor_array(piece), axis=along, dtype=dtype)))
    if not parts:
        raise NoGraphFormError("reduceat of no slices")
    return tensor_array(tf.stack(parts, along))
