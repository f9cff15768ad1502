"""Packs small tensors into one vector, because XLA handles each variable of a loop by itself, which takes
time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

#: The largest number of elements of a tensor that is packed.
_SMALL = 4


class Packing:
    """Packs values into a vector of 64-bit words, and unpacks them again."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._like = [
            value if isinstance(value, tf.TensorArray) else tf.convert_to_tensor(value) for value in values
        ]
        self._inside = [_is_small(value) for value in self._like]

    def pack(self, values: Sequence[Any]) -> list[Any]:
        """Return the vector, followed by the values that are not in it."""
        words = [_words(value) for value, inside in zip(values, self._inside, strict=True) if inside]
        values_beside = [value for value, inside in zip(values, self._inside, strict=True) if not inside]
        return [tf.concat(words, 0) if words else tf.zeros(0, tf.uint64), *values_beside]

    def unpack(self, packed_values: Sequence[Any]) -> list[Any]:
        """Return the values from the result of `pack`."""
        vector, values_beside, start = packed_values[0], iter(packed_values[1:]), 0
        values = []
        for like, inside in zip(self._like, self._inside, strict=True):
            if not inside:
                values.append(next(values_beside))
                continue
            size = like.shape.num_elements()
            values.append(_value(vector[start : start + size], like))
            start += size
        return values


def _is_small(value: Any) -> bool:
    if isinstance(value, tf.TensorArray) or not value.shape.is_fully_defined():
        return False
    return value.shape.num_elements() <= _SMALL and value.dtype != tf.uint32


def _words(value: Any) -> tf.Tensor:
    value = tf.reshape(tf.convert_to_tensor(value), [-1])
    if value.dtype in (tf.float64, tf.int64):
        return tf.bitcast(value, tf.uint64)
    return tf.cast(value, tf.uint64)


def _value(words: tf.Tensor, like: tf.Tensor) -> tf.Tensor:
    if like.dtype in (tf.float64, tf.int64):
        words = tf.bitcast(words, like.dtype)
    return tf.reshape(tf.cast(words, like.dtype), like.shape)
