"""`at` of ufuncs on tensors: an operation for each of several indices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from np2tf.staging import NoGraphFormError
from np2tf.tnp._array.ndarray import ndarray, wrap_tensor
from np2tf.tnp._indexing.advanced_keys import AdvancedKey
from np2tf.tnp._indexing.boolean_masks import leading_mask
from np2tf.tnp._indexing.get_set import getitem, setitem
from np2tf.tnp._indexing.keys import expand, is_parted
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.promotion import kind_of_item, ufunc_loop
from np2tf.tnp._ufuncs.tensor_ufunc import Ufunc

__all__ = []


_SCATTER: dict[str, Callable[..., tf.Tensor]] = {
    "add": tf.tensor_scatter_nd_add,
    "subtract": tf.tensor_scatter_nd_sub,
    "maximum": tf.tensor_scatter_nd_max,
    "minimum": tf.tensor_scatter_nd_min,
}


def scatter(ufunc: Ufunc, array: ndarray, indices: Any, operand: Any) -> None:
    """``ufunc.at(array, indices, operand)``: once for every index, also for repeated indices.

    Raises:
        IndexError: an index is out of bounds.
    """
    tensor = array.tensor
    if array.is_read_only:
        raise ValueError("array is read-only")
    operands = (tensor,) if operand is None else (tensor, operand)
    # For NumPy a Python number is an array like any other here, and not weak.
    loop = ufunc_loop(ufunc.numpy, tuple(map(kind_of_item, operands)))
    items = expand(indices, tensor.shape.rank)
    if not any(isinstance(item, tf.Tensor) for item in items) or leading_mask(items) is not None:
        old = getitem(array, indices)
        new = ufunc(old) if operand is None else ufunc(old, wrap_tensor(as_tensor(operand, loop[1])))
        if not new.tensor.shape.is_compatible_with(old.tensor.shape):
            raise ValueError("array is not broadcastable to correct shape")
        setitem(array, indices, new)
        return
    # A result of another kind is cast back after every single step, as NumPy does.
    combine = _SCATTER.get(ufunc.__name__)
    value = tf.zeros((), tf.bool) if operand is None else as_tensor(operand, loop[1])
    stepwise = combine is None or loop[0].kind != array.dtype.kind or loop[0].kind not in "iuf"
    key = AdvancedKey(tensor if stepwise else cast(tensor, loop[0]), items, is_parted(indices))
    key.check_value(value)
    if value.shape.rank > key.rank:
        raise ValueError("array is not broadcastable to correct shape")
    if stepwise:
        array.store(key.scatter(value, functools.partial(_apply_one_by_one, ufunc, loop)))
    else:
        array.store(cast(key.scatter(value, combine), array.dtype))


def _apply_one_by_one(
    ufunc: Ufunc, loop: Any, base: tf.Tensor, places: tf.Tensor, values: tf.Tensor
) -> tf.Tensor:
    """Apply a ufunc at each place in turn; a place is a row of `places`, as in tensor_scatter_nd_add."""
    if tf.executing_eagerly():
        raise NoGraphFormError("a loop over the indices, one operation at a time")
    width = places.shape[-1]
    rows = tf.reshape(places, [-1, width])
    parts = tf.reshape(values, tf.concat([tf.shape(rows)[:1], tf.shape(base)[width:]], 0))

    def step(k: tf.Tensor, array: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        row = rows[k][None]
        old = cast(tf.gather_nd(array, row), loop[0])
        new = ufunc.implementation(old) if ufunc.nin == 1 else ufunc.implementation(old, parts[k][None])
        return k + 1, tf.tensor_scatter_nd_update(
            array, row, cast(cast(new, loop[-1]), array.dtype.as_numpy_dtype)
        )

    count = tf.shape(rows)[0]
    return tf.while_loop(lambda k, _: k < count, step, (tf.zeros((), tf.int32), base))[1]


Ufunc.scatter = staticmethod(scatter)  # type: ignore[assignment]
