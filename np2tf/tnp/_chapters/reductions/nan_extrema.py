"""Maxima and minima that keep NaN when XLA compiles them.

XLA's own reductions on CPUs ignore NaN, and a second reduction that looks for NaN doubles the time. If the
bits of negative numbers are inverted, the bits of floating-point numbers are integers in the same order,
and the largest of these integers are the NaNs. So the maximum of the integers is NumPy's maximum, in one
pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._chapters.reductions.primitives import raw_max, raw_min, raw_sum
from np2tf.tnp._tensor.dtype_dispatch import BITS, constant, xla_may_compile
from np2tf.tnp._tensor.lane_reductions import reduce_in_lanes
from np2tf.tnp._tensor.pfor_converters import register

register()


def reduce_extreme(name: str, x: tf.Tensor, axes: tuple[int, ...], keepdims: Any) -> tf.Tensor:
    """Return the "maximum" or "minimum" of real numbers over axes; NaN if one of them is NaN."""
    if x.dtype.is_floating and xla_may_compile():
        return _largest(x, axes, keepdims) if name == "maximum" else -_largest(-x, axes, keepdims)
    return (raw_max if name == "maximum" else raw_min)(x, axes, keepdims)


def _order_bits(bits: tf.Tensor) -> tf.Tensor:
    """Convert the bits of floats to integers of the same order, or back."""
    return tf.where(bits >= 0, bits, tf.bitwise.bitwise_xor(bits, constant(bits.dtype.max, bits)))


def _order_keys(x: tf.Tensor) -> tf.Tensor:
    """Return integers in the order of floats; NaN is the largest.

    The integers decide what is NaN. LLVM takes ``where(is_nan(y), nan, y)`` for y, which is right but for the
    sign: the square root of a negative number is a NaN whose integer is smaller than that of any number.
    """
    keys = _order_bits(tf.bitcast(x, BITS[x.dtype]))
    infinity = np.array(np.inf, x.dtype.as_numpy_dtype).view(keys.dtype.as_numpy_dtype)
    return tf.where(keys < constant(~infinity, keys), constant(keys.dtype.max, keys), keys)


def _largest(x: tf.Tensor, axes: tuple[int, ...], keepdims: Any) -> tf.Tensor:
    """Return the maximum of floats over axes by way of integers, with the gradient of the maximum."""

    @tf.custom_gradient
    def largest(x: tf.Tensor) -> Any:
        keys = reduce_in_lanes(raw_max, tf.maximum, _order_keys(x), axes, True)
        result = tf.bitcast(_order_bits(keys), x.dtype)

        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            hits = tf.cast(tf.equal(x, result), x.dtype)
            return hits / raw_sum(hits, axes, True) * tf.reshape(upstream, tf.shape(result))

        return result if keepdims else tf.squeeze(result, list(axes)) if axes else result, gradient

    return largest(x)
