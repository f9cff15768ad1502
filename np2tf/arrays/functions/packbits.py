"""Pack booleans into bytes, and unpack bytes: packbits, unpackbits."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index

from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.dispatch.op import Array, Axis, OptionalInt, op
from np2tf.arrays.tensors.axis_reductions import reduce_sum

__all__ = ["packbits", "unpackbits"]

_BYTE = 8


def _shifts(bitorder: Any) -> tf.Tensor:
    """Return the number of places by which each bit of a byte is shifted, for an order of bits."""
    if bitorder not in ("big", "little"):
        raise ValueError("'order' must be either 'little' or 'big'")
    shifts = range(_BYTE) if bitorder == "little" else range(_BYTE - 1, -1, -1)
    return tf.constant(list(shifts), tf.int32)


def _move_axis_last(a: tf.Tensor, axis: Any) -> tuple[tf.Tensor, list[int]]:
    """Return `a` with `axis` last (flat for None), and the permutation that undoes it."""
    if axis is None:
        return tf.reshape(a, (-1,)), [0]
    rank = a.shape.rank
    place = normalize_axis_index(axis, rank)
    order = [k for k in range(rank) if k != place] + [place]
    return tf.transpose(a, order), [int(k) for k in np.argsort(order)]


def _length(a: tf.Tensor) -> Any:
    """Return the length of the last axis."""
    return tf.shape(a)[-1] if a.shape[-1] is None else a.shape[-1]


def _regroup_axes(a: tf.Tensor, *last: Any) -> tf.Tensor:
    """Return `a` with its last axes replaced by axes of the lengths `last`."""
    outer_shape = a.shape[: a.shape.rank - (1 if len(last) == 2 else 2)]
    first = [tf.shape(a)[k] if n is None else n for k, n in enumerate(outer_shape)]
    return tf.reshape(a, [*first, *last])


@op(np.packbits)
def packbits(a: Array, /, axis: Axis = None, bitorder: str = "big") -> ndarray:
    """Pack booleans into the bits of bytes."""
    if not (a.dtype.is_integer or a.dtype == tf.bool):
        raise TypeError("Expected an input array of integer or boolean data type")
    shifts = _shifts(bitorder)
    bits, back = _move_axis_last(a if a.dtype == tf.bool else tf.not_equal(a, tf.zeros((), a.dtype)), axis)
    length = _length(bits)
    pad_length = -length % _BYTE
    bit_rows = tf.pad(bits, [[0, 0]] * (bits.shape.rank - 1) + [[0, pad_length]])
    groups = _regroup_axes(bit_rows, (length + pad_length) // _BYTE, _BYTE)
    byte_values = reduce_sum(tf.bitwise.left_shift(tf.cast(groups, tf.int32), shifts), -1)
    return tensor_array(tf.transpose(tf.cast(byte_values, tf.uint8), back))


@op(np.unpackbits)
def unpackbits(a: Array, /, axis: Axis = None, count: OptionalInt = None, bitorder: str = "big") -> ndarray:
    """Unpack the bits of bytes."""
    if a.dtype != tf.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    shifts = _shifts(bitorder)
    octets, back = _move_axis_last(a, axis)
    apart = tf.bitwise.right_shift(tf.cast(octets, tf.int32)[..., None], shifts) & 1
    bits = tf.cast(_regroup_axes(apart, _length(octets) * _BYTE), tf.uint8)
    return tensor_array(tf.transpose(_take_bits(bits, count), back))


def _take_bits(bits: tf.Tensor, count: int | None) -> tf.Tensor:
    """Return `count` bits, padded with zeros; a negative count leaves out that many at the end."""
    if count is None:
        return bits
    length = _length(bits)
    if count < 0:
        if isinstance(length, int) and -count > length:
            raise ValueError(f"-count larger than number of elements (got {count})")
        return bits[..., : length + count]
    pad_length = tf.maximum(count - length, 0) if isinstance(length, tf.Tensor) else max(count - length, 0)
    return tf.pad(bits, [[0, 0]] * (bits.shape.rank - 1) + [[0, pad_length]])[..., :count]
