"""The error function, the normal distribution function, and their inverses."""

from __future__ import annotations

import math

import tensorflow as tf

from np2tf.scipy.kernels.declare import universal
from np2tf.scipy.kernels.special.series import choose, compute_in_double, polynomial
from np2tf.tnp._tensor.dtype_dispatch import constant, maximum, minimum
from np2tf.tnp._tensor.normal_quantile import FAR_TAIL, MIDDLE, TAIL
from np2tf.tnp._ufuncs.derivatives import differentiate_by

_SQRT_2 = math.sqrt(2.0)
#: Below, the logarithm of the normal distribution function comes from its asymptotic series.
_SERIES_BELOW = -12.0
_SERIES = [1.0]
for _k in range(1, 18):
    _SERIES.append(-_SERIES[-1] * (2 * _k - 1))


def error_function(x: tf.Tensor) -> tf.Tensor:
    """Compute the error function; beyond ±10 the result is ±1, as TensorFlow's kernel overflows there."""
    far = tf.abs(x) > constant(10, x)
    return tf.where(far, tf.sign(x), tf.math.erf(tf.where(far, constant(0, x), x)))


def _quantile(middle: tf.Tensor, tail: tf.Tensor) -> tf.Tensor:
    """Return the standard normal quantile of p.

    Args:
        middle: ``p - 0.5``.
        tail: ``min(p, 1 - p)``.
    """
    near = tf.abs(middle) <= constant(0.425, middle)
    square = constant(0.180625, middle) - tf.where(near, middle * middle, constant(0, middle))
    central = middle * polynomial(square, MIDDLE[0]) / polynomial(square, MIDDLE[1])
    is_inside = (tail > constant(0, tail)) & (tail <= constant(0.5, tail))
    root = tf.sqrt(-tf.math.log(tf.where(is_inside, tail, constant(0.25, tail))))
    first, second = root - constant(1.6, root), root - constant(5.0, root)
    size = tf.where(
        root <= constant(5.0, root),
        polynomial(first, TAIL[0]) / polynomial(first, TAIL[1]),
        polynomial(second, FAR_TAIL[0]) / polynomial(second, FAR_TAIL[1]),
    )
    size = choose(size, (tf.equal(tail, constant(0, tail)), math.inf), (~is_inside, math.nan))
    return tf.where(near, central, tf.where(middle < constant(0, middle), -size, size))


def _scaled_exponential(x: tf.Tensor, factor: float, rate: float) -> tf.Tensor:
    """Return ``factor * exp(rate * x**2)``, the derivative of an inverse whose value is x."""
    return constant(factor, x) * tf.exp(constant(rate, x) * x * x)


@differentiate_by(lambda p: _scaled_exponential(normal_quantile(p), math.sqrt(2 * math.pi), 0.5))
def normal_quantile(p: tf.Tensor) -> tf.Tensor:
    """Return the number x such that a standard normal variable is below x with probability p."""
    return _quantile(p - constant(0.5, p), minimum(p, constant(1, p) - p))


@differentiate_by(lambda y: _scaled_exponential(error_inverse(y), math.sqrt(math.pi) / 2, 1.0))
def error_inverse(y: tf.Tensor) -> tf.Tensor:
    """Return the number x with ``erf(x) == y``."""
    half = constant(0.5, y)
    x = _quantile(half * y, half * (constant(1, y) - tf.abs(y))) / constant(_SQRT_2, y)
    return tf.where(tf.equal(y, constant(0, y)), y, x)


@differentiate_by(lambda y: _scaled_exponential(complement_inverse(y), -math.sqrt(math.pi) / 2, 1.0))
def complement_inverse(y: tf.Tensor) -> tf.Tensor:
    """Return the number x with ``erfc(x) == y``."""
    half, one = constant(0.5, y), constant(1, y)
    tail = half * minimum(y, constant(2, y) - y)
    return _quantile(half * (one - y), tail) / constant(_SQRT_2, y)


def normal_distribution(x: tf.Tensor) -> tf.Tensor:
    """Return the probability that a standard normal variable is below x."""
    half, quotient = constant(0.5, x), x / constant(_SQRT_2, x)
    near = tf.abs(x) < constant(1, x)
    tail = half * tf.math.erfc(tf.abs(quotient))
    return tf.where(
        near,
        half + half * tf.math.erf(quotient),
        tf.where(x > constant(0, x), constant(1, x) - tail, tail),
    )


def log_normal_distribution(x: tf.Tensor) -> tf.Tensor:
    """Return the logarithm of `normal_distribution`."""
    below = constant(_SERIES_BELOW, x)
    far = minimum(x, below)
    inverse = constant(1, x) / (far * far)
    asymptotic = (
        constant(-0.5, x) * far * far
        - tf.math.log(-far)
        - constant(0.5 * math.log(2 * math.pi), x)
        + tf.math.log(polynomial(inverse, _SERIES))
    )
    near = tf.math.log(normal_distribution(maximum(x, below)))
    above = tf.math.log1p(-normal_distribution(-maximum(x, constant(0, x))))
    return tf.where(x < below, asymptotic, tf.where(x > constant(1, x), above, near))


def scaled_complement(x: tf.Tensor) -> tf.Tensor:
    """Return ``exp(x**2) * erfc(x)``."""
    limit = constant(8, x)
    near, far = minimum(x, limit), maximum(x, limit)
    inverse = constant(0.5, x) / (far * far)
    asymptotic = polynomial(inverse, _SERIES) / (far * constant(math.sqrt(math.pi), x))
    return tf.where(x > limit, asymptotic, tf.exp(near * near) * tf.math.erfc(near))


universal("erfcx", compute_in_double(scaled_complement))
universal("erf", error_function)
universal("erfc", compute_in_double(tf.math.erfc))
universal("erfinv", compute_in_double(error_inverse))
universal("erfcinv", compute_in_double(complement_inverse))
universal("ndtr", compute_in_double(normal_distribution))
universal("log_ndtr", compute_in_double(log_normal_distribution))
universal("ndtri", compute_in_double(normal_quantile))
