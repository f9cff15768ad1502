"""Conversions between numbers that ``tf.cast`` rounds or wraps in another way than NumPy."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

_TWO_63 = float(2**63)


def _takes_the_lowest() -> bool:
    with np.errstate(invalid="ignore"):
        integers = np.array([np.nan, np.inf, -np.inf]).astype(np.int64)
    return bool((integers == np.iinfo(np.int64).min).all())


#: True if this CPU converts numbers out of range to the lowest integer. XLA gives the nearest integer, or 0
#: for NaN.
_LOWEST = _takes_the_lowest()


def to_signed(x: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Convert floating-point numbers to signed integers. Out of range the result is that of NumPy on this
    CPU.
    """
    if dtype.size < 4:
        # CPUs, and so NumPy, convert to 32 bits and keep the low bits.
        return tf.cast(to_signed(x, tf.int32), dtype)
    if not _LOWEST or tf.executing_eagerly():
        return tf.cast(x, dtype)
    if x.dtype.size < 4:
        x = tf.cast(x, tf.float32)
    low = tf.constant(float(dtype.min), x.dtype)
    fits = tf.greater_equal(x, low) & tf.less(x, -low)
    return tf.where(fits, tf.cast(x, dtype), tf.constant(dtype.min, dtype))


def to_half(x: tf.Tensor) -> tf.Tensor:
    """Convert float64 to float16 with a single rounding.

    tf.cast goes by way of float32 and rounds twice. Here the first rounding is to odd: towards zero, with the
    last bit set if any bits were cut off. Then the second rounding has the same choice as from the original
    number.
    """
    single = tf.cast(x, tf.float32)
    back = tf.cast(single, tf.float64)
    inexact = tf.not_equal(back, x) & tf.equal(x, x)
    bits = tf.bitcast(single, tf.int32)
    towards_zero = bits - tf.cast(tf.greater(tf.abs(back), tf.abs(x)), tf.int32)
    odd = tf.bitcast(tf.bitwise.bitwise_or(towards_zero, 1), tf.float32)
    return tf.cast(tf.where(inexact, odd, single), tf.float16)


def to_unsigned(x: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Convert floating-point numbers to unsigned integers. Negative numbers wrap."""
    if dtype != tf.uint64:
        return tf.cast(to_signed(x, tf.int32 if dtype.size < 4 else tf.int64), dtype)
    if x.dtype == tf.float16:
        x = tf.cast(x, tf.float32)
    half = tf.constant(_TWO_63, x.dtype)
    large = tf.greater_equal(x, half)
    low = tf.bitcast(to_signed(tf.where(large, x - half, x), tf.int64), tf.uint64)
    return tf.where(large, tf.bitwise.bitwise_xor(low, tf.constant(2**63, tf.uint64)), low)
