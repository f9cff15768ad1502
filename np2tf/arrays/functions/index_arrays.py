"""Index arrays: of flat places, cross products, diagonals and triangles; objects that make keys."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.dispatch.host_fallback import host_only
from np2tf.arrays.dispatch.op import COrF, Shape, op
from np2tf.arrays.functions.creation import asarray
from np2tf.arrays.functions.take_put import bring_into_bounds, indices_of, reshaped_index
from np2tf.arrays.indexing.index_keys import true_places
from np2tf.arrays.operands.conversion import as_tensor
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.violations import record_violation

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "index_exp",
    "ix_",
    "mask_indices",
    "ravel_multi_index",
    "s_",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]


# -- flat indices --------------------------------------------------------------------------------------------
# Index arrays: of cross products, and of places in the flattened array.


@op(np.ix_)
def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Return index arrays that select the cross product of sequences."""
    index_arrays = []
    for k, arg in enumerate(args):
        index = as_tensor(arg)
        if index.shape.rank != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if index.shape[0] == 0 and isinstance(arg, (list, tuple)):
            index = tf.cast(index, tf.int64)
        if index.dtype == tf.bool:
            index = true_places(index)[:, 0]
        index_arrays.append(
            tensor_array(reshaped_index(index, [-1 if j == k else 1 for j in range(len(args))]))
        )
    return tuple(index_arrays)


@op(np.unravel_index)
def unravel_index(indices: Any, shape: Shape, order: COrF = "C") -> Any:
    """Convert positions in the flattened array to positions along the axes."""
    index = as_tensor(indices)
    if not index.dtype.is_integer:
        raise TypeError("only int indices permitted")
    if not shape and index.shape.rank:
        raise ValueError("multiple indices are not supported for 0d array")
    index = tf.cast(index, tf.int64)
    size = int(np.prod(shape, dtype=np.int64))
    violation = reduce_any((index < 0) | (index >= size))
    static = tf.get_static_value(violation)
    if static:
        raise ValueError(f"index is out of bounds for array with size {size}")
    if static is None:
        record_violation(violation)
    parts = []
    for n in shape if order == "F" else reversed(shape):
        parts.append(index % n)
        index = index // n
    return tuple(parts) if order == "F" else tuple(reversed(parts))


@op(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Shape, mode: Any = "raise", order: COrF = "C") -> Any:
    """Convert positions along the axes to positions in the flattened array."""
    parts = [indices_of(part) for part in multi_index]
    if len(parts) != len(dims):
        raise ValueError("parameter multi_index must be a sequence of length " + str(len(dims)))
    if not all(as_tensor(part).dtype.is_integer for part in multi_index):
        raise TypeError("only int indices permitted")
    if all(isinstance(length, int) for length in dims):
        if math.prod(dims) > np.iinfo(np.int64).max:
            raise ValueError("invalid dims: their product is larger than the maximum possible size.")
        if 0 in dims and any(part.shape.num_elements() != 0 for part in parts):
            raise ValueError("cannot unravel if shape has zero entries")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    steps = np.cumprod([1, *(dims[:-1] if order == "F" else dims[:0:-1])])
    total: Any = tf.zeros((), tf.int64)
    entries = list(zip(parts, dims, modes, strict=True))
    for (part, length, how), step in zip(entries if order == "F" else reversed(entries), steps, strict=True):
        if how == "raise":
            violation = reduce_any((part < 0) | (part >= length))
            static = tf.get_static_value(violation)
            if static:
                raise ValueError("invalid entry in coordinates array")
            if static is None:
                record_violation(violation)
        else:
            part = bring_into_bounds(part, length, 0, how)
        total = total + part * int(step)
    return total


# -- index arrays --------------------------------------------------------------------------------------------
# Index arrays for parts of matrices (diagonals, triangles), and objects that make keys.


def diag_indices_from(arr: Any) -> Any:
    """Indices of the main diagonal of a square array."""
    arr = asarray(arr)
    if not arr.ndim >= 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def _indices_like(function: Any) -> Any:
    def call(arr: Any, k: int = 0) -> Any:
        arr = asarray(arr)
        if arr.ndim != 2:
            raise ValueError("input array must be 2-d")
        return function(arr.shape[-2], k=k, m=arr.shape[-1])

    call.__name__ = call.__qualname__ = f"{function.__name__}_from"
    call.__doc__ = "Indices of that triangle of `arr`."
    return call


diag_indices = host_only(np.diag_indices)


mask_indices = host_only(np.mask_indices)


tril_indices = host_only(np.tril_indices)


triu_indices = host_only(np.triu_indices)


tril_indices_from = _indices_like(tril_indices)


triu_indices_from = _indices_like(triu_indices)


s_ = np.s_


index_exp = np.index_exp
