"""NumPy's object arrays of arrays, and ragged tensors: conversion in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import is_array
from np2tf.tnp._operands.promotion import has_tf_dtype
from np2tf.tnp._ragged.ragged_array import RaggedArray
from np2tf.tnp._ragged.rows_on_host import rows_on_host
from np2tf.transform_errors import RaggedRowsError

_SEQUENCES = (list, tuple)
_REMEDY = "give all rows one dtype: row.astype(…), or np2tf.ragged.from_numpy(x, dtype=…)"


def from_numpy(x: Any, dtype: Any = None) -> tf.RaggedTensor:
    """Return the ragged tensor of an object array of arrays.

    Args:
        x: an object array whose items are arrays of different lengths, of one dtype and of equal shapes but
            for the first axis; or nested object arrays, lists and tuples of such arrays. A list of numbers is
            an array.
        dtype: the dtype of the result; without it, the dtype of the rows.

    Returns:
        A tf.RaggedTensor with a ragged axis for each level of `x`.

    Raises:
        RaggedRowsError: the rows differ in dtype, depth, or shape behind the first axis, or TensorFlow has no
            such dtype.

    See https://www.tensorflow.org/guide/ragged_tensor.
    """
    if not _is_level(x):
        raise RaggedRowsError(
            f"from_numpy takes an object array or a list of arrays, and got a {_kind_of(x)}"
        )
    lengths: list[list[int]] = []
    rows: list[Any] = [x]
    while True:
        lengths.append([len(row) for row in rows])
        items = [item for row in rows for item in row]
        if not any(_holds_rows(item) for item in items):
            break
        for item in items:
            if not _holds_rows(item) and not (_is_level(item) and not len(item)):
                raise RaggedRowsError(
                    f"the rows have different depths: a {_kind_of(item)} beside an array of arrays"
                )
        rows = items
    leaves = [_leaf(item) for item in items]
    elements = _join(leaves, dtype)
    lengths.append([len(leaf) for leaf in leaves])
    return tf.RaggedTensor.from_nested_row_lengths(
        tf.constant(elements), [np.array(level, np.int64) for level in lengths[1:]]
    )


def to_numpy(tensor: Any) -> np.ndarray:
    """Return the object array of the rows of a ragged tensor.

    Args:
        tensor: a tf.RaggedTensor with any number of ragged axes. A tensor without ragged axes gives a dense
            array.

    Returns:
        An object array with a new array for each row, of the tensor's dtype; nested object arrays for several
        ragged axes.

    See https://www.tensorflow.org/guide/ragged_tensor.
    """
    if isinstance(tensor, RaggedArray):
        tensor = tensor.ragged_tensor
    if not isinstance(tensor, tf.RaggedTensor):
        return tensor.numpy() if is_array(tensor) or isinstance(tensor, tf.Tensor) else np.asarray(tensor)
    return rows_on_host(tensor.flat_values.numpy(), [splits.numpy() for splits in tensor.nested_row_splits])


def is_object_array(x: Any) -> bool:
    """Return whether a value is an object array whose items are arrays, lists or tuples."""
    return type(x) is np.ndarray and x.dtype == object and x.ndim > 0 and all(map(_is_row, x))


def _is_row(item: Any) -> bool:
    return (
        isinstance(item, (np.ndarray, *_SEQUENCES)) and np.ndim(item if type(item) is np.ndarray else []) > 0
    )


def _is_level(x: Any) -> bool:
    """Return whether a value may be a level of rows, and no array of numbers."""
    return isinstance(x, _SEQUENCES) or (isinstance(x, np.ndarray) and x.dtype == object and x.ndim > 0)


def _holds_rows(item: Any) -> bool:
    """Return whether a value is a level whose items are rows."""
    return _is_level(item) and any(_is_row(part) for part in item)


def _leaf(item: Any) -> np.ndarray:
    """Return a row of numbers as an array; an empty list has the dtype object."""
    if isinstance(item, np.ndarray) and item.dtype != object:
        if item.ndim:
            return item
    elif _is_level(item):
        return np.array(list(item)) if len(item) else np.empty(0, object)
    raise RaggedRowsError(f"an item is a {_kind_of(item)}, and not an array of one axis or more")


def _join(leaves: Sequence[np.ndarray], dtype: Any) -> np.ndarray:
    """Return the elements of all rows of numbers, one after another."""
    full = [leaf for leaf in leaves if leaf.dtype != object]
    dtypes = {leaf.dtype for leaf in full}
    if dtype is None:
        if len(dtypes) > 1:
            raise RaggedRowsError(f"the rows have the dtypes {sorted(map(str, dtypes))}; {_REMEDY}")
        if not dtypes:
            raise RaggedRowsError(
                "there are no rows with a dtype; give the dtype: from_numpy(x, dtype=float)"
            )
        (dtype,) = dtypes
    if not has_tf_dtype(np.dtype(dtype)):
        raise RaggedRowsError(
            f"NumPy's functions have no tensors of the dtype {np.dtype(dtype)}; give numbers, such as the "
            "codes of characters"
        )
    shapes = {leaf.shape[1:] for leaf in full}
    if len(shapes) > 1:
        raise RaggedRowsError(
            f"the rows have different shapes behind the first axis: {sorted(shapes)}; give them as arrays of "
            "arrays, so that this axis is ragged, too"
        )
    empty = np.empty((0, *(shapes.pop() if shapes else ())), dtype)
    return np.concatenate([empty, *[leaf.astype(dtype) for leaf in full]])


def _kind_of(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return f"{x.dtype} array with {x.ndim} axes"
    return type(x).__name__


__all__ = ["from_numpy", "is_object_array", "to_numpy"]
