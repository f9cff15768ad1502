"""Conversions between numbers that ``tf.cast`` rounds or wraps in another way than NumPy."""

from __future__ import annotations

import tensorflow as tf

_TWO_63 = float(2**63)


def to_half(x: tf.Tensor) -> tf.Tensor:
    """float64 as float16, rounded once.

    tf.cast goes by way of float32 and rounds twice. Here the first rounding is to odd: towards zero, with the
    last bit set where anything was cut off, which leaves the second one the same choice as from the start.
    """
    single = tf.cast(x, tf.float32)
    back = tf.cast(single, tf.float64)
    inexact = tf.not_equal(back, x) & tf.equal(x, x)
    bits = tf.bitcast(single, tf.int32)
    towards_zero = bits - tf.cast(tf.greater(tf.abs(back), tf.abs(x)), tf.int32)
    odd = tf.bitcast(tf.bitwise.bitwise_or(towards_zero, 1), tf.float32)
    return tf.cast(tf.where(inexact, odd, single), tf.float16)


def to_unsigned(x: tf.Tensor, wanted: tf.DType) -> tf.Tensor:
    """Floating-point numbers as unsigned integers: what is negative wraps."""
    if wanted != tf.uint64:
        return tf.cast(tf.cast(x, tf.int64), wanted)
    if x.dtype == tf.float16:
        return tf.bitcast(tf.cast(x, tf.int64), tf.uint64)
    half = tf.constant(_TWO_63, x.dtype)
    large = tf.greater_equal(x, half)
    low = tf.bitcast(tf.cast(tf.where(large, x - half, x), tf.int64), tf.uint64)
    return tf.where(large, tf.bitwise.bitwise_xor(low, tf.constant(2**63, tf.uint64)), low)
