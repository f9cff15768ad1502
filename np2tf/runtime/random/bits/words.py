"""Arithmetic on 128-bit integers in two halves, and products that are rounded before they are added."""

from __future__ import annotations

import tensorflow as tf

LOW_32 = 0xFFFFFFFF
#: (low, high)
Wide = tuple[tf.Tensor, tf.Tensor]


def u64(value: int) -> tf.Tensor:
    """Return a constant of 64 bits."""
    return tf.constant(value, tf.uint64)


def shift_right(value: tf.Tensor, bits: int) -> tf.Tensor:
    """Return the value shifted to the right."""
    return tf.bitwise.right_shift(value, tf.constant(bits, value.dtype))


def shift_left(value: tf.Tensor, bits: int) -> tf.Tensor:
    """Return the value shifted to the left; bits beyond its width are lost."""
    return tf.bitwise.left_shift(value, tf.constant(bits, value.dtype))


def mask_bits(value: tf.Tensor, mask: int) -> tf.Tensor:
    """Return the bits under a mask."""
    return tf.bitwise.bitwise_and(value, tf.constant(mask, value.dtype))


def multiply(a: tf.Tensor, b: tf.Tensor) -> Wide:
    """Return the whole product of two words."""
    a_low, a_high = mask_bits(a, LOW_32), shift_right(a, 32)
    b_low, b_high = mask_bits(b, LOW_32), shift_right(b, 32)
    low, cross_product = a_low * b_low, a_high * b_low
    middle = cross_product + shift_right(low, 32)
    high_cross_sum = a_low * b_high + mask_bits(middle, LOW_32)
    return a * b, a_high * b_high + shift_right(middle, 32) + shift_right(high_cross_sum, 32)


def times(a: Wide, b: Wide) -> Wide:
    """Return the product modulo 2**128."""
    low, high = multiply(a[0], b[0])
    return low, high + a[0] * b[1] + a[1] * b[0]


def plus(a: Wide, b: Wide) -> Wide:
    """Return the sum modulo 2**128."""
    low = a[0] + b[0]
    return low, a[1] + b[1] + tf.cast(low < a[0], tf.uint64)


def wide(value: int) -> Wide:
    """Return a constant of 128 bits."""
    return u64(value % 2**64), u64(value // 2**64)


def rounded_product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return a finite product that is rounded before a later addition.

    A compiler may fuse a multiplication with the following addition, and omit the rounding between them. Here
    comparisons are between the two, and the compiler cannot omit one of them.
    """
    least, greatest = (tf.constant(limit, tf.float64) for limit in (tf.float64.min, tf.float64.max))
    return tf.maximum(tf.minimum(a * b, greatest), least)
