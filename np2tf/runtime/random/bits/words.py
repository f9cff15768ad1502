"""Arithmetic on 128-bit integers in two halves, and products that are rounded before they are added."""

from __future__ import annotations

import tensorflow as tf

LOW_32 = 0xFFFFFFFF
#: (low, high)
Wide = tuple[tf.Tensor, tf.Tensor]


def u64(value: int) -> tf.Tensor:
    """A constant."""
    return tf.constant(value, tf.uint64)


def shift_right(value: tf.Tensor, bits: int) -> tf.Tensor:
    """Shift to the right."""
    return tf.bitwise.right_shift(value, tf.constant(bits, value.dtype))


def shift_left(value: tf.Tensor, bits: int) -> tf.Tensor:
    """Shift to the left; what goes beyond is lost."""
    return tf.bitwise.left_shift(value, tf.constant(bits, value.dtype))


def mask_bits(value: tf.Tensor, mask: int) -> tf.Tensor:
    """The bits under a mask."""
    return tf.bitwise.bitwise_and(value, tf.constant(mask, value.dtype))


def multiply(a: tf.Tensor, b: tf.Tensor) -> Wide:
    """The whole product of two words."""
    a_low, a_high = mask_bits(a, LOW_32), shift_right(a, 32)
    b_low, b_high = mask_bits(b, LOW_32), shift_right(b, 32)
    low, crossed = a_low * b_low, a_high * b_low
    middle = crossed + shift_right(low, 32)
    other = a_low * b_high + mask_bits(middle, LOW_32)
    return a * b, a_high * b_high + shift_right(middle, 32) + shift_right(other, 32)


def times(a: Wide, b: Wide) -> Wide:
    """The product modulo 2**128."""
    low, high = multiply(a[0], b[0])
    return low, high + a[0] * b[1] + a[1] * b[0]


def plus(a: Wide, b: Wide) -> Wide:
    """The sum modulo 2**128."""
    low = a[0] + b[0]
    return low, a[1] + b[1] + tf.cast(low < a[0], tf.uint64)


def wide(value: int) -> Wide:
    """A constant."""
    return u64(value % 2**64), u64(value // 2**64)


def rounded_product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """A finite product that is rounded before anything is added to it.

    A compiler may join a multiplication with the addition that follows, and leave out the rounding between
    them. Between these two there are comparisons; one of them it cannot leave out.
    """
    least, most = (tf.constant(limit, tf.float64) for limit in (tf.float64.min, tf.float64.max))
    return tf.maximum(tf.minimum(a * b, most), least)
