"""``log1p`` of numbers between -1 and 0, with the same last bit as the C library's function.

XLA's own ``log1p`` differs in the last bits. The method is that of most C libraries: 1 + x is 2**k times a
number near 1, whose logarithm is a polynomial in s = f / (2 + f). C libraries for processors with fused
multiply-add omit some roundings of the polynomial. A comparison finds out which of the two methods this
machine's library uses; if it uses neither, NumPy draws normal numbers.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.runtime.random.bits.words import mask_bits, shift_right

_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_COEFFICIENTS = (
    *(6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01),
    *(2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01),
    1.479819860511658591e-01,
)
#: The upper halves of 0.2929, of the root of 2 without its exponent, of 2**-29 and of 2**-54.
_NEAR, _ROOT, _SMALL, _SMALLEST = 0x3FD2BEC3, 0x6A09E, 0x3E200000, 0x3C900000
_FRACTION_BITS, _ONE_BITS, _HALF_BITS = 0x000FFFFFFFFFFFFF, 0x3FF << 52, 0x3FE << 52
#: A multiplication whose product is rounded before a later addition.
Product = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def log1p(x: tf.Tensor, product: Product, fused: bool | None = None) -> tf.Tensor:
    """Return ``log1p`` of numbers x with -1 < x <= 0."""
    times = _Times(product, fuses() if fused is None else fused)
    magnitude = mask_bits(_upper(x), 0x7FFFFFFF)
    near = magnitude <= _NEAR
    one = tf.ones_like(x)
    u = tf.where(near, one, one + x)
    k, fraction = shift_right(_upper(u), 20) - 1023, mask_bits(_upper(u), 0xFFFFF)
    correction = (x - (u - 1.0)) / u
    small = fraction < _ROOT
    exponent = tf.where(small, tf.constant(_ONE_BITS, tf.int64), tf.constant(_HALF_BITS, tf.int64))
    u = tf.bitcast(
        tf.bitwise.bitwise_or(mask_bits(tf.bitcast(u, tf.int64), _FRACTION_BITS), exponent), tf.float64
    )
    k = tf.where(small, k, k + 1)
    fraction = tf.where(small, fraction, shift_right(0x100000 - fraction, 2))
    f = tf.where(near, x, u - 1.0)
    half_square = times(times(0.5, f), f)
    exponents = tf.cast(k, tf.float64)
    low, high = times(exponents, _LN2_LOW) + correction, times(exponents, _LN2_HIGH)
    # For a tiny f two terms are enough, and for f = 0 none.
    cubic = times(half_square, 1.0 - times(0.66666666666666666, f))
    for_few_terms = tf.where(tf.equal(f, 0.0), high + low, high - ((cubic - low) - f))
    s = f / (2.0 + f)
    bent = times(s, half_square + _series(times(s, s), times))
    for_many_terms = high - ((half_square - (bent + low)) - f)
    result = tf.where(
        near, f - (half_square - bent), tf.where(tf.equal(fraction, 0), for_few_terms, for_many_terms)
    )
    result = tf.where(magnitude < _SMALL, x - times(times(x, x), 0.5), result)
    return tf.where(magnitude < _SMALLEST, x, result)


class _Times:
    """Multiplies with rounding. If `fused`, `plus` adds to a product before it is rounded."""

    def __init__(self, product: Product, fused: bool) -> None:
        self._product = product
        self._is_fused = fused

    def __call__(self, a: Any, b: Any) -> tf.Tensor:
        factors = tf.convert_to_tensor(a, tf.float64), tf.convert_to_tensor(b, tf.float64)
        return self._product(*factors)

    def plus(self, a: tf.Tensor, b: Any, c: tf.Tensor) -> tf.Tensor:
        """Return ``a * b + c``."""
        product = self(a, b)
        if not self._is_fused:
            return product + c
        total = product + c
        virtual = total - product
        error = (product - (total - virtual)) + (c - virtual)
        return total + (error + self._rounded_off(a, b, product))

    def _rounded_off(self, a: tf.Tensor, b: Any, product: tf.Tensor) -> tf.Tensor:
        """Return the error of a rounded product, by Dekker's splitting."""
        a_upper, a_lower = self._split(a)
        b_upper, b_lower = self._split(tf.convert_to_tensor(b, tf.float64))
        error = (self(a_upper, b_upper) - product) + self(a_upper, b_lower) + self(a_lower, b_upper)
        return error + self(a_lower, b_lower)

    def _split(self, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        product = self(a, 2.0**27 + 1.0)
        upper = product - (product - a)
        return upper, a - upper


def _series(z: tf.Tensor, times: _Times) -> tf.Tensor:
    a, b, c, d, e, f, g = _COEFFICIENTS
    z2 = times(z, z)
    z4 = times(z2, z2)
    total = times.plus(z, a, times(z2, times.plus(z, c, tf.constant(b, tf.float64))))
    total = times.plus(z4, times.plus(z, e, tf.constant(d, tf.float64)), total)
    return times.plus(times(z4, z2), times.plus(z, g, tf.constant(f, tf.float64)), total)


def _upper(x: tf.Tensor) -> tf.Tensor:
    """Return the upper half of the bits."""
    return shift_right(tf.bitcast(x, tf.int64), 32)


@functools.cache
def _detect_fusion() -> bool | None:
    """Return whether the C library uses fused multiply-add; None if it uses another method."""
    random = np.random.Generator(np.random.PCG64(1))
    samples = np.concatenate([-random.random(30_000), -(2.0 ** -random.uniform(0, 60, 10_000))])
    logarithms = np.array([math.log1p(x) for x in samples])
    with tf.init_scope(), tf.device("CPU"):
        for is_fused in (True, False):
            result = log1p(tf.constant(samples), tf.multiply, is_fused).numpy()
            if np.array_equal(result, logarithms):
                return is_fused
    return None


def log1p_is_known() -> bool:
    """Return whether `log1p` here equals the C library's function."""
    return _detect_fusion() is not None


def fuses() -> bool:
    """Return whether the C library omits roundings of the polynomial."""
    return bool(_detect_fusion())
