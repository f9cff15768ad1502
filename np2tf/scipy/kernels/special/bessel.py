"""Bessel functions of the orders 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import tensorflow as tf

from np2tf.scipy.kernels.declare import universal
from np2tf.scipy.kernels.special.series import compute_in_double
from np2tf.scipy.versions import SCIPY
from np2tf.tnp._tensor.dtype_dispatch import constant


def _unscale(scaled_function: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Return a modified function of the first kind, made from its version that is scaled by ``exp(-|x|)``."""

    return lambda x: tf.exp(tf.abs(x)) * scaled_function(x)


def _reject_negative(function: Callable[[tf.Tensor], tf.Tensor]) -> Callable[[tf.Tensor], tf.Tensor]:
    """Return a function of the second kind, made to give NaN for negative numbers."""

    def call(x: tf.Tensor) -> tf.Tensor:
        return tf.where(x < constant(0, x), constant(math.nan, x), function(x))

    return call


#: Beyond this number the asymptotic expansions are exact to the last digits, with so many terms.
_FAR, _TERMS = 25.0, 24


def _expansion(order: int, odd: bool) -> list[float]:
    """Return coefficients of the asymptotic expansion in 1 / x: of the odd powers or the even powers."""
    term, terms = 1.0, [1.0]
    for k in range(1, _TERMS):
        term *= (4 * order * order - (2 * k - 1) ** 2) / (8 * k)
        terms.append(term)
    return [coefficient * (-1) ** n for n, coefficient in enumerate(terms[odd::2])]


def _polynomial(coefficients: list[float], x: tf.Tensor) -> tf.Tensor:
    """Return the value of a polynomial, whose lowest coefficient comes first."""
    result = constant(0.0, x)
    for coefficient in reversed(coefficients):
        result = result * x + constant(coefficient, x)
    return result


def _with_exact_phase(
    function: Callable[[tf.Tensor], tf.Tensor], order: int, second: bool
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Return a Bessel function that takes the phase of large numbers as exactly as SciPy does since 1.18.

    Asymptotic expansions: https://dlmf.nist.gov/10.17.

    Args:
        function: TensorFlow's Bessel function.
        order: 0 or 1.
        second: whether it is a function of the second kind.
    """
    if SCIPY < (1, 18):
        return function

    def call(x: tf.Tensor) -> tf.Tensor:
        size = tf.abs(x)
        is_far = tf.math.is_finite(x) & (size > constant(_FAR, x))
        far = tf.where(is_far, size, constant(_FAR, x))
        near = function(tf.where(is_far, constant(_FAR, x), x))
        inverse = 1.0 / far
        p = _polynomial(_expansion(order, False), inverse * inverse)
        q = _polynomial(_expansion(order, True), inverse * inverse) * inverse
        # cos and sin of the phase, times the root of two.
        plus, minus = tf.cos(far) + tf.sin(far), tf.sin(far) - tf.cos(far)
        cosine, sine = (minus, -plus) if order else (plus, minus)
        value = (p * sine + q * cosine) if second else (p * cosine - q * sine)
        value *= tf.math.rsqrt(constant(math.pi, x) * far)
        # Bessel functions of the first kind are even or odd.
        value = value * tf.sign(x) if order and not second else value
        return tf.where(is_far, value, near)

    return call


universal("i0", compute_in_double(_unscale(tf.math.bessel_i0e)))
universal("i1", compute_in_double(_unscale(tf.math.bessel_i1e)))
universal("i0e", compute_in_double(tf.math.bessel_i0e))
universal("i1e", compute_in_double(tf.math.bessel_i1e))
universal("j0", compute_in_double(_with_exact_phase(tf.math.special.bessel_j0, 0, False)))
universal("j1", compute_in_double(_with_exact_phase(tf.math.special.bessel_j1, 1, False)))
universal("y0", compute_in_double(_reject_negative(_with_exact_phase(tf.math.special.bessel_y0, 0, True))))
universal("y1", compute_in_double(_reject_negative(tf.math.special.bessel_y1)))
universal("k0", compute_in_double(_reject_negative(tf.math.special.bessel_k0)))
universal("k1", compute_in_double(_reject_negative(tf.math.special.bessel_k1)))
universal("k0e", compute_in_double(_reject_negative(tf.math.special.bessel_k0e)))
universal("k1e", compute_in_double(_reject_negative(tf.math.special.bessel_k1e)))
