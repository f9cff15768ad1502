"""Functions that divide by their argument, with their series near zero: all derivatives are right there."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.dtype_dispatch import constant

#: Below this size the first terms of a series are as exact as float64.
_NEAR = 0.02
#: The coefficients of x**0, x**2, x**4 …
_SINE_QUOTIENT = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880)
_BESSEL_I1_QUOTIENT = (1 / 2, 1 / 16, 1 / 384, 1 / 18432, 1 / 1474560)


def _with_series(x: tf.Tensor, coefficients: tuple[float, ...], function: Any) -> tf.Tensor:
    """Return an even function: by its series near zero, elsewhere by `function`, which is finite at 1."""
    is_near = tf.abs(x) < _NEAR
    near, far = tf.where(is_near, x, constant(0, x)), tf.where(is_near, constant(1, x), x)
    square, total = near * near, constant(coefficients[-1], x)
    for coefficient in reversed(coefficients[:-1]):
        total = total * square + constant(coefficient, x)
    return tf.where(is_near, total, function(far))


def sine_quotient(x: tf.Tensor) -> tf.Tensor:
    """Return ``sin(x) / x``."""
    return _with_series(x, _SINE_QUOTIENT, lambda x: tf.sin(x) / x)


@tf.custom_gradient
def bessel_i0(x: tf.Tensor) -> Any:
    """Return the modified Bessel function of order 0.

    The derivative of TensorFlow's `bessel_i1` is 1 at zero, and should be 1/2.
    """
    return tf.math.bessel_i0(x), lambda upstream: upstream * _bessel_i1(x)


@tf.custom_gradient
def _bessel_i1(x: tf.Tensor) -> Any:
    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        quotient = _with_series(x, _BESSEL_I1_QUOTIENT, lambda x: _bessel_i1(x) / x)
        return upstream * (bessel_i0(x) - quotient)

    return tf.math.bessel_i1(x), gradient
