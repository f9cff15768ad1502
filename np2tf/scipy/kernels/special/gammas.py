"""The gamma function, its logarithm and derivatives, the beta function, binomial coefficients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from scipy.special import zetac

from np2tf.scipy.kernels.declare import discard_unless, native, refusal, universal
from np2tf.scipy.kernels.special.series import (
    choose,
    compute_in_double,
    is_whole,
    polynomial,
)
from np2tf.tnp._dispatch.argument_types import Array, Int
from np2tf.tnp._operands.conversion import cast, promote
from np2tf.tnp._tensor.dtype_dispatch import broadcast_together, constant, maximum, minimum
from np2tf.tnp._tensor.reductions_of_axes import reduce_all
from np2tf.tnp._ufuncs.derivatives import differentiate_by
from np2tf.tnp._ufuncs.real import signbit

#: ``lgamma(2 + z)`` for ``|z| <= 1/2``, as a power series.
_AROUND_2 = [0.0, 1 - np.euler_gamma, *((-1) ** k * float(zetac(k)) / k for k in range(2, 32))]
#: ``lgamma(x) - ((x - 1/2) * log(x) - x + log(2 * pi) / 2)``, times x, in powers of ``1 / x**2``.
_STIRLING_COEFFICIENTS = (
    1 / 12,
    -1 / 360,
    1 / 1260,
    -1 / 1680,
    1 / 1188,
    -691 / 360360,
    1 / 156,
    -3617 / 122400,
)
_LARGE = 10.5
_HALF_LOG_2_PI = 0.5 * math.log(2 * math.pi)
_FACTORIALS = np.array([float(math.factorial(k)) for k in range(171)])
#: The most factors of a binomial coefficient that are multiplied one by one.
_MAX_FACTORS = 20


def _correction(x: tf.Tensor) -> tf.Tensor:
    """Return the correction term of Stirling's formula, for x >= 10."""
    return polynomial(constant(1, x) / (x * x), _STIRLING_COEFFICIENTS) / x


def _log_gamma_of_positive(x: tf.Tensor) -> tf.Tensor:
    """The logarithm of the gamma function of positive numbers."""
    half, one = constant(0.5, x), constant(1, x)
    large = x >= constant(_LARGE, x)
    far = tf.where(large, x, constant(_LARGE, x))
    approximation = (
        (far - half) * (tf.math.log(far) - one) - half + constant(_HALF_LOG_2_PI, x) + _correction(far)
    )
    near = tf.where(large | tf.math.is_nan(x), one, x)
    whole = tf.round(near)
    fraction = near - whole
    # The steps from 2 + rest to x: down for x below 1.5, up above 2.5.
    sum = polynomial(fraction, _AROUND_2)
    tiny = constant(np.finfo(np.float64).tiny, x)
    down = tf.where(
        whole < half, tf.math.log(maximum(near, tiny)) + tf.math.log1p(near), tf.math.log1p(fraction)
    )
    sum = tf.where(whole < constant(1.5, x), sum - down, sum)
    product = one
    for k in range(1, 10):
        step = constant(k, x)
        product = product * tf.where(whole >= step + constant(2, x), near - step, one)
    return choose(
        sum + tf.math.log(product),
        (tf.math.is_inf(x), math.inf),
        (large, approximation),
        (tf.math.is_nan(x), x),
    )


def _sine_of_pi(x: tf.Tensor) -> tf.Tensor:
    """Return ``sin(pi * x)``, exactly 0 at whole numbers."""
    whole = tf.round(x)
    sine = tf.sin(constant(math.pi, x) * (x - whole))
    odd = tf.not_equal(tf.math.floormod(whole, constant(2, x)), constant(0, x))
    return tf.where(odd, -sine, sine)


@differentiate_by(lambda x: digamma(x))
def log_gamma(x: tf.Tensor) -> tf.Tensor:
    """Return the logarithm of the absolute value of the gamma function."""
    zero, one = constant(0, x), constant(1, x)
    negative = x < zero
    positive = _log_gamma_of_positive(tf.where(negative, one - x, x))
    infinite = tf.math.is_inf(x) | (is_whole(x) & (x <= zero))
    sine = tf.abs(_sine_of_pi(tf.where(negative & ~infinite, x, constant(0.5, x))))
    tiny = negative & (x > constant(-1e-10, x))
    size = tf.where(tiny, -tf.math.log(tf.where(tiny, -x, one)), tf.math.log(constant(math.pi, x) / sine))
    reflection = size - positive
    return choose(
        positive,
        (tf.math.is_nan(x), x),
        (tf.equal(x, constant(-math.inf, x)), x),
        (infinite, math.inf),
        (negative, reflection),
    )


@differentiate_by(lambda x: gamma(x) * digamma(x))
def gamma(x: tf.Tensor) -> tf.Tensor:
    """Return the gamma function."""
    zero = constant(0, x)
    negative = x < zero
    whole = is_whole(x)
    odd = tf.not_equal(tf.math.floormod(tf.floor(x), constant(2, x)), zero)
    size = tf.exp(log_gamma(x))
    signed = tf.where(negative & odd, -size, size)
    position = tf.cast(tf.clip_by_value(tf.where(whole, x, constant(1, x)), 1.0, 171.0), tf.int32) - 1
    exact = whole & (x >= constant(1, x)) & (x <= constant(171, x))
    return choose(
        signed,
        (tf.equal(x, zero), tf.where(signbit(x), constant(-math.inf, x), constant(math.inf, x))),
        (whole & negative | tf.equal(x, constant(-math.inf, x)), math.nan),
        (exact, tf.gather(tf.constant(_FACTORIALS, x.dtype), position)),
    )


def _log_gamma_real(x: tf.Tensor) -> tf.Tensor:
    return tf.where(x < constant(0, x), constant(math.nan, x), log_gamma(x))


@differentiate_by(lambda x: hurwitz(constant(2, x), x))
def digamma(x: tf.Tensor) -> tf.Tensor:
    """Return the derivative of the logarithm of the gamma function."""
    zero = constant(0, x)
    at_zero = tf.where(signbit(x), constant(math.inf, x), constant(-math.inf, x))
    pole = is_whole(x) & (x <= zero)
    value = tf.math.digamma(tf.where(pole | tf.math.is_inf(x), constant(1, x), x))
    return choose(
        value,
        (tf.equal(x, zero), at_zero),
        (pole, math.nan),
        (tf.equal(x, constant(-math.inf, x)), math.nan),
        (tf.math.is_inf(x), x),
    )


def _log_beta_partial(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the derivative of `log_beta` by its first operand."""
    return digamma(a) - digamma(a + b)


@differentiate_by(_log_beta_partial, lambda a, b: _log_beta_partial(b, a))
def log_beta(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the logarithm of the absolute value of the beta function.

    The computation avoids differences of large numbers.
    """
    a, b = broadcast_together(a, b)
    _require_regular("betaln", a, b)
    return _log_beta(a, b)


def _require_regular(name: str, a: tf.Tensor, b: tf.Tensor) -> None:
    """Leave poles, infinite numbers, and pairs of a negative and a large number to SciPy."""
    zero, limit = constant(0, a), constant(1e4, a)
    least, greatest = minimum(a, b), maximum(a, b)
    positive = (least > zero) & (greatest < constant(1e300, a))
    ordinary = ~is_whole(a) & ~is_whole(b) & ~is_whole(a + b) & (tf.abs(a) < limit) & (tf.abs(b) < limit)
    discard_unless(
        reduce_all(positive | ordinary | tf.math.is_nan(a) | tf.math.is_nan(b)),
        f"{name} at a pole or far out",
    )


def _log_beta(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    small, large = minimum(a, b), maximum(a, b)
    one, ten = constant(1, a), constant(_LARGE, a)
    plain = log_gamma(a) + (log_gamma(b) - log_gamma(a + b))
    is_far = (large >= ten) & (small > constant(0, a)) & tf.math.is_finite(large)
    p, q = tf.where(is_far, small, one), tf.where(is_far, large, ten)
    share = p / (p + q)
    correction = _correction(q) - _correction(p + q)
    are_far = p >= ten
    p_far = tf.where(are_far, p, ten)
    far = tf.where(
        are_far,
        constant(-0.5, a) * tf.math.log(q)
        + constant(_HALF_LOG_2_PI, a)
        + _correction(p_far)
        + correction
        + (p - constant(0.5, a)) * tf.math.log(share)
        + q * tf.math.log1p(-share),
        _log_gamma_of_positive(p)
        + correction
        + p
        - p * tf.math.log(p + q)
        + (q - constant(0.5, a)) * tf.math.log1p(-share),
    )
    return tf.where(is_far, far, plain)


def _sign_of_gamma(x: tf.Tensor) -> tf.Tensor:
    odd = tf.not_equal(tf.math.floormod(tf.floor(x), constant(2, x)), constant(0, x))
    return tf.where((x < constant(0, x)) & odd, constant(-1, x), constant(1, x))


@differentiate_by(
    lambda a, b: beta(a, b) * _log_beta_partial(a, b), lambda a, b: beta(a, b) * _log_beta_partial(b, a)
)
def beta(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the beta function."""
    a, b = broadcast_together(a, b)
    _require_regular("beta", a, b)
    sum, one, limit = a + b, constant(1, a), constant(171, a)
    sign = _sign_of_gamma(a) * _sign_of_gamma(b) * _sign_of_gamma(sum)
    is_near = (tf.abs(sum) < limit) & (tf.abs(a) < limit) & (tf.abs(b) < limit)
    large, small = tf.where(is_near, maximum(a, b), one), tf.where(is_near, minimum(a, b), one)
    near = gamma(large) / gamma(tf.where(is_near, sum, one)) * gamma(small)
    return choose(tf.where(is_near, near, sign * tf.exp(_log_beta(a, b))), (tf.math.is_nan(sum), sum))


def _is_below_zero(x: tf.Tensor) -> tf.Tensor:
    """Return where a number is whole and below zero."""
    return is_whole(x) & (x < constant(0, x))


def _digamma_of_next(x: tf.Tensor) -> tf.Tensor:
    """Return ``psi(x + 1)``, and 0 at its poles."""
    pole = _is_below_zero(x)
    return tf.where(pole, constant(0, x), digamma(tf.where(pole, constant(0, x), x) + constant(1, x)))


def _slope_at_zero(n: tf.Tensor, distance: tf.Tensor) -> tf.Tensor:
    """Return ``-(-1)**distance * beta(n + 1, distance)``.

    It is the derivative of a coefficient that is 0 because a factorial of its denominator is infinite.
    """
    odd = tf.not_equal(tf.math.floormod(distance, constant(2, n)), constant(0, n))
    size = tf.exp(_log_beta(n + constant(1, n), distance))
    return tf.where(odd, size, -size)


def _binomial_by_n(n: tf.Tensor, k: tf.Tensor) -> tf.Tensor:
    beyond = _is_below_zero(n - k)
    regular = binomial(n, k) * (_digamma_of_next(n) - _digamma_of_next(n - k))
    return choose(regular, (beyond, _slope_at_zero(n, tf.where(beyond, k - n, constant(1, n)))))


def _binomial_by_k(n: tf.Tensor, k: tf.Tensor) -> tf.Tensor:
    beyond, below = _is_below_zero(n - k), _is_below_zero(k)
    regular = binomial(n, k) * (_digamma_of_next(n - k) - _digamma_of_next(k))
    return choose(
        regular,
        (beyond, -_slope_at_zero(n, tf.where(beyond, k - n, constant(1, n)))),
        (below, _slope_at_zero(n, tf.where(below, -k, constant(1, n)))),
    )


@differentiate_by(_binomial_by_n, _binomial_by_k)
def binomial(n: tf.Tensor, k: tf.Tensor) -> tf.Tensor:
    """Return the binomial coefficient."""
    n, k = broadcast_together(n, k)
    zero, one, limit = constant(0, n), constant(1, n), constant(1e4, n)
    is_undefined = (is_whole(n) & (n < zero)) | tf.math.is_nan(n) | tf.math.is_nan(k)
    inside = (n >= zero) & (k >= zero) & (k <= n) & (n < constant(1e15, n))
    near = (tf.abs(n) < limit) & (tf.abs(k) < limit)
    discard_unless(reduce_all(inside | near | is_undefined), "binom far out")
    regular = inside | near & ~is_undefined
    n, k = tf.where(regular, n, one), tf.where(regular, k, one)
    whole = is_whole(n) & (n > zero) & is_whole(k) & (k > n / constant(2, n))
    fewer = tf.where(whole, n - k, k)
    has_few_factors = is_whole(fewer) & (fewer >= zero) & (fewer < constant(_MAX_FACTORS, n))
    has_few_factors &= (tf.abs(n) > constant(1e-8, n)) | tf.equal(n, zero)
    factors = tf.where(has_few_factors, fewer, zero)
    # Multiplied before they are divided, coefficients of whole numbers are whole; but not beyond all bounds.
    above, below = tf.ones_like(n), tf.ones_like(n)
    for i in range(1, _MAX_FACTORS):
        step = constant(i, n)
        taken = factors >= step
        above = above * tf.where(taken, step + n - factors, one)
        below = below * tf.where(taken, step, one)
        large = tf.abs(above) > constant(1e50, n)
        above, below = tf.where(large, above / below, above), tf.where(large, one, below)
    pole = is_whole(k) & (k < zero) | (is_whole(n - k) & (n - k < zero))
    first, second = tf.where(pole, one, one + n - k), tf.where(pole, one, one + k)
    size = tf.exp(-_log_beta(first, second) - tf.math.log(tf.abs(n + one)))
    sign = _sign_of_gamma(n + one) * _sign_of_gamma(k + one) * _sign_of_gamma(n - k + one)
    return choose(sign * size, (is_undefined, math.nan), (has_few_factors, above / below), (pole, zero))


@differentiate_by(
    lambda z, m: rising_factorial(z, m) * (digamma(z + m) - digamma(z)),
    lambda z, m: rising_factorial(z, m) * digamma(z + m),
)
def rising_factorial(z: tf.Tensor, m: tf.Tensor) -> tf.Tensor:
    """``gamma(z + m) / gamma(z)``."""
    z, m = broadcast_together(z, m)
    zero, one, limit = constant(0, z), constant(1, z), constant(171, z)
    sum = z + m
    regular = (z > zero) & (sum > zero) & (z < constant(1e3, z)) & (sum < constant(1e3, z))
    undefined = tf.math.is_nan(sum)
    discard_unless(reduce_all(regular | undefined), "poch of numbers that are not positive, or far out")
    near = regular & (z < limit) & (sum < limit)
    below, above = (tf.where(near, part, one) for part in (z, sum))
    first, second = (tf.where(regular, part, one) for part in (z, sum))
    far = tf.exp(log_gamma(second) - log_gamma(first))
    return choose(far, (undefined, sum), (near, gamma(above) / gamma(below)))


@differentiate_by("Zeta", lambda x, q: -x * hurwitz(x + constant(1, x), q))
def hurwitz(x: tf.Tensor, q: tf.Tensor) -> tf.Tensor:
    """Return the Hurwitz zeta function."""
    return tf.math.zeta(*broadcast_together(x, q))


universal("gammaln", compute_in_double(log_gamma))
universal("gamma", compute_in_double(gamma))
universal("loggamma", compute_in_double(_log_gamma_real))
universal("psi", compute_in_double(digamma))
universal("beta", compute_in_double(beta))
universal("betaln", compute_in_double(log_beta))
universal("poch", compute_in_double(rising_factorial))
universal("binom", compute_in_double(binomial))


@native("scipy.special.zeta")
def zeta(x: Array, q: Any = None) -> tf.Tensor:
    """Return the Hurwitz zeta function.

    Args:
        x: array of real exponents.
        q: array of real shifts.

    Returns:
        An array of float64, or of float32 if `x` is float16 or float32.

    Raises:
        StagingError: `q` is None (Riemann's function), or `x` is complex.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.zeta.html.
    """
    if q is None or x.dtype.is_complex:
        raise refusal("the zeta function of Riemann, or of complex numbers")
    first, second = promote(x, q)
    wide = (cast(first, np.float64), cast(second, np.float64))
    return cast(hurwitz(*wide), np.float32 if first.dtype in (tf.float16, tf.float32) else np.float64)


@native("scipy.special.polygamma")
def polygamma(n: Array, x: Array) -> tf.Tensor:
    """Return the derivatives of `digamma`.

    Args:
        n: array of the orders of the derivatives.
        x: array of real numbers.

    Returns:
        An array of float64 in the common shape; NaN for negative orders.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.polygamma.html.
    """
    order, at = broadcast_together(cast(n, np.float64), cast(x, np.float64))
    one = constant(1, order)
    above = tf.where(order > constant(0, order), order + one, constant(2, order))
    sign = tf.where(tf.equal(tf.math.floormod(order, constant(2, order)), constant(0, order)), -one, one)
    higher = sign * gamma(above) * hurwitz(above, at)
    result = tf.where(order < constant(0, order), constant(math.nan, order), higher)
    # SciPy computes the first factor in the precision of x.
    narrow = tf.float32 if x.dtype in (tf.float16, tf.float32) else tf.float64
    lowest = tf.cast(tf.cast(digamma(at), narrow), tf.float64)
    return tf.where(tf.equal(order, constant(0, order)), lowest, result)


@native("scipy.special.multigammaln")
def multigammaln(a: Array, d: Int) -> tf.Tensor:
    """Return the logarithm of the multivariate gamma function.

    Args:
        a: array of real numbers above (d - 1) / 2.
        d: the number of dimensions.

    Returns:
        An array of float64 in the shape of `a`.

    Raises:
        StagingError: an element of `a` is outside of the domain.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.multigammaln.html.
    """
    at = cast(a, np.float64)
    discard_unless(reduce_all(at > constant(0.5 * (d - 1), at)), "multigammaln outside of its domain")
    result = tf.fill(tf.shape(at), constant(d * (d - 1) * 0.25 * math.log(math.pi), at))
    for j in range(d):
        result += log_gamma(at - constant(j / 2, at))
    return result
