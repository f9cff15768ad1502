"""scipy.special: error, gamma, beta, Bessel functions, binomials, sums of exponentials."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from scipy.special import zetac

from np2tf.arrays.dispatch.op import Array, Axis, Int
from np2tf.arrays.functions.ufuncs.real import differentiate_by, signbit
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast, promote
from np2tf.arrays.operands.promotion import inexact_type
from np2tf.arrays.scipy.declare import SCIPY, discard_unless, native, refusal, universal
from np2tf.arrays.tensors import batches
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_max, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import broadcast_together, constant, maximum, minimum
from np2tf.arrays.tensors.normal_quantile import FAR_TAIL, MIDDLE, TAIL, horner

# -- series --------------------------------------------------------------------------------------------------
# Polynomials, and wrappers that compute operands of single precision in double precision.


def polynomial(x: tf.Tensor, coefficients: Sequence[float]) -> tf.Tensor:
    """Return ``coefficients[0] + coefficients[1] * x + …``."""
    return horner(coefficients, x, lambda coefficient: constant(coefficient, x))


def compute_in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes in float64, and returns the dtype of its operands."""

    @functools.wraps(function)
    def call(*operands: tf.Tensor) -> Any:
        narrow = operands[0].dtype
        if narrow == tf.float64:
            return function(*operands)
        return tf.cast(function(*[tf.cast(operand, tf.float64) for operand in operands]), narrow)

    return call


def choose(default: tf.Tensor, *cases: tuple[tf.Tensor, Any]) -> tf.Tensor:
    """Return, for each element, the value of the first case whose condition holds; `default` if none does."""
    for condition, value in reversed(cases):
        value = value if isinstance(value, tf.Tensor) else constant(value, default)
        default = tf.where(condition, value, default)
    return default


def is_whole(x: tf.Tensor) -> tf.Tensor:
    """Return where a number is finite and has no fractional part."""
    return tf.equal(tf.floor(x), x) & tf.math.is_finite(x)


# -- errors --------------------------------------------------------------------------------------------------
# The error function, the normal distribution function, and their inverses.

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
    """Return the standard normal quantile of p, given ``p - 0.5`` and ``min(p, 1 - p)``."""
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


# -- elementwise ---------------------------------------------------------------------------------------------
# Functions of scipy.special that are made of exponentials and logarithms.

#: The logarithm of the least positive number, half of which is 0.
_LOG_OF_LEAST = math.log(5e-324) - math.log(2)


@differentiate_by(lambda p: constant(1, p) / (p * (constant(1, p) - p)))
def _logit(p: tf.Tensor) -> tf.Tensor:
    """Return the logarithm of ``p / (1 - p)``."""
    one = constant(1, p)
    middle = (p >= constant(0.3, p)) & (p <= constant(0.65, p))
    distance = constant(2, p) * (tf.where(middle, p, constant(0.5, p)) - constant(0.5, p))
    near = tf.math.log1p(distance) - tf.math.log1p(-distance)
    return tf.where(middle, near, tf.math.log(p / (one - p)))


def _log_expit(x: tf.Tensor) -> tf.Tensor:
    return -tf.math.softplus(-x)


def _times(logarithm: Callable[[tf.Tensor], tf.Tensor], shift: float) -> Callable[..., tf.Tensor]:
    """Return the function ``x * logarithm(y)``, which is 0 where x is 0 and y is not NaN.

    The derivative of the logarithm is ``1 / (y + shift)``.
    """

    def quotient(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        is_zero = tf.equal(x, constant(0, x))
        return tf.where(is_zero, x, x / tf.where(is_zero, constant(1, y), y + constant(shift, y)))

    @differentiate_by(lambda x, y: logarithm(y), quotient)
    def call(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        x, y = broadcast_together(x, y)
        is_zero = tf.equal(x, constant(0, x)) & ~tf.math.is_nan(y)
        return tf.where(is_zero, constant(0, x), x * logarithm(tf.where(is_zero, constant(1, y), y)))

    return call


xlogy, xlog1py = _times(tf.math.log, 0.0), _times(tf.math.log1p, 1.0)


def _log_ratio(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    return tf.math.log(x) - tf.math.log(y)


@differentiate_by(lambda x: -tf.math.log(x) - constant(1, x))
def _entropy(x: tf.Tensor) -> tf.Tensor:
    """Return ``-x * log(x)``: 0 for 0, minus infinity for negative numbers."""
    positive = x > constant(0, x)
    value = -x * tf.math.log(tf.where(positive, x, constant(1, x)))
    return choose(value, (tf.math.is_nan(x), x), (tf.equal(x, constant(0, x)), 0.0), (~positive, -math.inf))


@differentiate_by(lambda x, y: _log_ratio(x, y) + constant(1, x), lambda x, y: -x / y)
def _relative_entropy(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Return ``x * log(x / y)``."""
    x, y = broadcast_together(x, y)
    zero, one = constant(0, x), constant(1, x)
    are_positive = (x > zero) & (y > zero)
    above, below = tf.where(are_positive, x, one), tf.where(are_positive, y, one)
    ratio = above / below
    near = (ratio > constant(0.5, x)) & (ratio < constant(2, x))
    # The quotient of nearly equal numbers would round their difference away.
    close = tf.math.log1p(
        (tf.where(near, above, one) - tf.where(near, below, one)) / tf.where(near, below, one)
    )
    inside = (ratio > constant(np.finfo(np.float64).tiny, x)) & tf.math.is_finite(ratio)
    logarithm = choose(
        tf.math.log(above) - tf.math.log(below),
        (near, close),
        (inside, tf.math.log(tf.where(inside, ratio, one))),
    )
    is_zero = tf.equal(x, zero) & (y >= zero)
    is_undefined = tf.math.is_nan(x) | tf.math.is_nan(y)
    return choose(above * logarithm, (is_undefined, math.nan), (is_zero, 0.0), (~are_positive, math.inf))


@differentiate_by(lambda x, y: _log_ratio(x, y), lambda x, y: constant(1, x) - x / y)
def _divergence(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Return ``x * log(x / y) - x + y``."""
    x, y = broadcast_together(x, y)
    zero = constant(0, x)
    are_positive = (x > zero) & (y > zero)
    above, below = tf.where(are_positive, x, constant(1, x)), tf.where(are_positive, y, constant(1, x))
    ratio = above / below
    vanishes = ratio < constant(np.finfo(np.float64).tiny, x)
    apart = tf.math.log(above) - tf.math.log(below)
    apart = tf.where(apart < constant(_LOG_OF_LEAST, x), constant(-math.inf, x), apart)
    logarithm = tf.where(vanishes, apart, tf.math.log(ratio))
    is_zero = tf.equal(x, zero) & (y >= zero)
    is_undefined = tf.math.is_nan(x) | tf.math.is_nan(y)
    return choose(
        tf.where(are_positive, x * logarithm - x + y, constant(math.inf, x)),
        (is_undefined, math.nan),
        (is_zero, y),
    )


def _huber(delta: tf.Tensor, r: tf.Tensor) -> tf.Tensor:
    """Return the Huber loss of residuals r."""
    delta, r = broadcast_together(delta, r)
    half, size = constant(0.5, r), tf.abs(r)
    value = tf.where(size <= delta, half * r * r, delta * (size - half * delta))
    return tf.where(delta < constant(0, r), constant(math.inf, r), value)


universal("expit", tf.math.sigmoid)
universal("logit", compute_in_double(_logit))
universal("log_expit", compute_in_double(_log_expit))
universal("xlogy", compute_in_double(xlogy))
universal("xlog1py", compute_in_double(xlog1py))
universal("entr", compute_in_double(_entropy))
universal("rel_entr", compute_in_double(_relative_entropy))
universal("kl_div", compute_in_double(_divergence))
universal("huber", compute_in_double(_huber))
for _name in ("expm1", "log1p", "exp2", "cbrt"):
    universal(_name, compute_in_double(UFUNCS[getattr(np, _name)].implementation))
universal("exp10", compute_in_double(lambda x: tf.pow(constant(10, x), x)))


# -- gammas --------------------------------------------------------------------------------------------------
# The gamma function, its logarithm and derivatives, the beta function, binomial coefficients.

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
    """Return the Hurwitz zeta function."""
    if q is None or x.dtype.is_complex:
        raise refusal("the zeta function of Riemann, or of complex numbers")
    first, second = promote(x, q)
    wide = (cast(first, np.float64), cast(second, np.float64))
    return cast(hurwitz(*wide), np.float32 if first.dtype in (tf.float16, tf.float32) else np.float64)


@native("scipy.special.polygamma")
def polygamma(n: Array, x: Array) -> tf.Tensor:
    """Return the derivatives of `digamma`."""
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
    """Return the logarithm of the multivariate gamma function."""
    at = cast(a, np.float64)
    discard_unless(reduce_all(at > constant(0.5 * (d - 1), at)), "multigammaln outside of its domain")
    result = tf.fill(tf.shape(at), constant(d * (d - 1) * 0.25 * math.log(math.pi), at))
    for j in range(d):
        result += log_gamma(at - constant(j / 2, at))
    return result


# -- incomplete ----------------------------------------------------------------------------------------------
# Incomplete gamma and beta functions.

#: The largest parameter, the largest number and the smallest parameter for which TensorFlow is used.
_MAX_PARAMETER, _MAX_ARGUMENT, _MIN_PARAMETER = 2e3, 1e15, 1e-8


def _gamma(a: tf.Tensor, x: tf.Tensor, upper: bool) -> tf.Tensor:
    """Return a regularised incomplete gamma function, with SciPy's values at the borders of the domain."""
    a, x = broadcast_together(a, x)
    zero, one = constant(0, a), constant(1, a)
    inside = (a > zero) & (x > zero) & tf.math.is_finite(a) & tf.math.is_finite(x)
    # For larger numbers TensorFlow's iterations are too few, or do not end.
    discard_unless(
        reduce_all(
            ~inside
            | (
                (a < constant(_MAX_PARAMETER, a))
                & (a > constant(_MIN_PARAMETER, a))
                & (x < constant(_MAX_ARGUMENT, a))
            )
        ),
        "gammainc far out",
    )
    inside &= (
        (a < constant(_MAX_PARAMETER, a))
        & (a > constant(_MIN_PARAMETER, a))
        & (x < constant(_MAX_ARGUMENT, a))
    )
    compute = batches.igammac if upper else batches.igamma
    value = compute(tf.where(inside, a, one), tf.where(inside, x, one))
    value_at_zero, value_at_infinity = (one, zero) if upper else (zero, one)
    infinite = constant(math.inf, a)
    is_undefined = (a < zero) | (x < zero) | tf.math.is_nan(a) | tf.math.is_nan(x)
    is_undefined |= tf.equal(a, zero) & tf.equal(x, zero) | (tf.equal(a, infinite) & tf.equal(x, infinite))
    return choose(
        value,
        (is_undefined, math.nan),
        (tf.equal(a, zero) | tf.equal(x, infinite), value_at_infinity),
        (tf.equal(x, zero) | tf.equal(a, infinite), value_at_zero),
    )


def _by_parameter(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the derivative of `lower_gamma` by its first operand."""
    zero, one = constant(0, a), constant(1, a)
    inside = (a > zero) & (x > zero) & tf.math.is_finite(a) & tf.math.is_finite(x)
    return tf.where(inside, batches.igamma_gradient(tf.where(inside, a, one), tf.where(inside, x, one)), zero)


def _density(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the derivative of `lower_gamma` by its second operand."""
    return tf.exp(xlogy(a - constant(1, a), x) - x - log_gamma(a))


@differentiate_by(_by_parameter, _density)
def lower_gamma(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the regularised lower incomplete gamma function."""
    return _gamma(a, x, upper=False)


@differentiate_by(lambda a, x: -_by_parameter(a, x), lambda a, x: -_density(a, x))
def upper_gamma(a: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the regularised upper incomplete gamma function."""
    return _gamma(a, x, upper=True)


def _beta_density(a: tf.Tensor, b: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    one = constant(1, a)
    return tf.exp(xlogy(a - one, x) + xlog1py(b - one, -x) - log_beta(a, b))


@differentiate_by("Betainc", "Betainc", _beta_density)
def incomplete_beta(a: tf.Tensor, b: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
    """Return the regularised incomplete beta function."""
    a, b, x = broadcast_together(a, b, x)
    zero, one = constant(0, a), constant(1, a)
    finite = tf.math.is_finite(a) & tf.math.is_finite(b)
    inside = (a > zero) & (b > zero) & (x > zero) & (x < one) & finite
    discard_unless(
        reduce_all(~inside | ((a < constant(_MAX_PARAMETER, a)) & (b < constant(_MAX_PARAMETER, a)))),
        "betainc far out",
    )
    inside &= (a < constant(_MAX_PARAMETER, a)) & (b < constant(_MAX_PARAMETER, a))
    value = batches.betainc(*(tf.where(inside, one_of, constant(0.5, a)) for one_of in (a, b, x)))
    infinite = constant(math.inf, a)
    a_is_infinite, b_is_infinite = tf.equal(a, infinite), tf.equal(b, infinite)
    no_a, no_b = tf.equal(a, zero), tf.equal(b, zero)
    is_undefined = tf.math.is_nan(a + b + x) | (a < zero) | (b < zero) | (x < zero) | (x > one)
    is_undefined |= (a_is_infinite & b_is_infinite) | (no_a & no_b)
    return choose(
        value,
        (is_undefined, math.nan),
        (no_a | b_is_infinite, tf.where(tf.equal(x, zero), zero, one)),
        (no_b | a_is_infinite, tf.where(tf.equal(x, one), one, zero)),
        (tf.equal(x, zero), zero),
        (tf.equal(x, one), one),
    )


universal("gammainc", compute_in_double(lower_gamma))
universal("gammaincc", compute_in_double(upper_gamma))
universal("betainc", compute_in_double(incomplete_beta))
universal("chdtr", compute_in_double(lambda v, x: lower_gamma(v / constant(2, v), x / constant(2, x))))
universal("chdtrc", compute_in_double(lambda v, x: upper_gamma(v / constant(2, v), x / constant(2, x))))


# -- counting ------------------------------------------------------------------------------------------------
# Factorials and binomial coefficients.


@native("scipy.special.comb")
def comb(N: Array, k: Array, *, repetition: bool = False) -> tf.Tensor:
    """Return the number of ways to choose k of N things."""
    things, sample_size = broadcast_together(cast(N, np.float64), cast(k, np.float64))
    if repetition:
        zero = constant(0, things)
        # The results for n below 1 depend on SciPy's version.
        discard_unless(
            reduce_all((things > zero) & (sample_size >= zero)),
            "comb with repetition of less than one thing",
        )
        things = things + sample_size - constant(1, sample_size)
    possible = (
        (sample_size <= things) & (things >= constant(0, things)) & (sample_size >= constant(0, sample_size))
    )
    return tf.where(possible, binomial(things, sample_size), constant(0, things))


@native("scipy.special.factorial")
def factorial(n: Array) -> tf.Tensor:
    """Return ``gamma(n + 1)``, and 0 for negative numbers."""
    if n.dtype.is_complex or n.dtype in (tf.bool, tf.float16):
        raise refusal(f"factorial of {n.dtype.name}")
    at = cast(n, np.float64)
    value = gamma(tf.where(at < constant(0, at), constant(0, at), at) + constant(1, at))
    result = choose(value, (tf.math.is_nan(at), at), (at < constant(0, at), 0.0))
    # SciPy computes the function in the precision of n, and then converts the result to float64.
    return cast(cast(result, np.float32), np.float64) if n.dtype == tf.float32 else result


# -- bessel --------------------------------------------------------------------------------------------------
# Bessel functions of the orders 0 and 1.


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


def _with_exact_phase(
    function: Callable[[tf.Tensor], tf.Tensor], order: int, second: bool
) -> Callable[[tf.Tensor], tf.Tensor]:
    """Return TensorFlow's Bessel function of order 0 or 1 with the phase of large numbers taken as exactly as
    SciPy does since 1.18.

    Asymptotic expansions: https://dlmf.nist.gov/10.17.
    """
    if SCIPY < (1, 18):
        return function

    def call(x: tf.Tensor) -> tf.Tensor:
        size = tf.abs(x)
        is_far = tf.math.is_finite(x) & (size > constant(_FAR, x))
        far = tf.where(is_far, size, constant(_FAR, x))
        near = function(tf.where(is_far, constant(_FAR, x), x))
        inverse = 1.0 / far
        p = polynomial(inverse * inverse, _expansion(order, False))
        q = polynomial(inverse * inverse, _expansion(order, True)) * inverse
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


# -- sums ----------------------------------------------------------------------------------------------------
# Logarithms of sums of exponentials, along axes.


def _inexact(x: tf.Tensor, *operands: tf.Tensor) -> tf.Tensor:
    """Convert an operand to the floating-point dtype of the result."""
    if x.dtype.is_complex or x.dtype == tf.float16:
        raise refusal(f"sums of exponentials of {x.dtype.name}")
    return cast(x, inexact_type(x, *operands))


def _axes(x: tf.Tensor, axis: Any) -> list[int]:
    """Return the axes that an argument names, as a list."""
    rank = rank_of(x)
    if axis is None:
        return list(range(rank))
    return [int(k) for k in (axis if isinstance(axis, tuple) else (axis,))]


def _largest(x: tf.Tensor, axes: list[int]) -> tf.Tensor:
    """Return the largest numbers along `axes`, with 0 in the place of infinite numbers."""
    largest = reduce_max(x, axes, keepdims=True)
    return tf.where(tf.math.is_finite(largest), largest, constant(0, x))


@native("scipy.special.logsumexp")
def logsumexp(a: Array, axis: Axis = None, b: Any = None, keepdims: bool = False) -> tf.Tensor:
    """Return the logarithm of the sum of exponentials."""
    if a.shape.num_elements() in (0, None):
        raise refusal("logsumexp of an array that is empty or of unknown size")
    if b is not None:
        weights = as_tensor(b)
        if weights.dtype.is_complex:
            raise refusal("logsumexp with complex weights")
        a, weights = _inexact(a, weights), _inexact(weights, a)
        a, weights = tf.broadcast_to(a, tf.broadcast_static_shape(a.shape, weights.shape)), weights
        a = tf.where(tf.equal(weights, constant(0, weights)), constant(-np.inf, a), a)
    a = _inexact(a)
    axes = _axes(a, axis)
    largest = _largest(a, axes)
    if b is None:
        # The sum leaves out the largest numbers: their exponentials are 1, and log1p keeps small rests exact.
        is_largest = tf.equal(a, largest)
        count = reduce_sum(tf.cast(is_largest, a.dtype), axes, keepdims=True)
        terms = tf.where(is_largest, constant(0, a), tf.exp(a - largest))
        sum = reduce_sum(terms, axes, keepdims=True)
        found = count > constant(0, count)
        safe = tf.where(found, count, constant(1, count))
        result = tf.where(
            found, tf.math.log1p(sum / safe) + tf.math.log(safe) + largest, tf.math.log(sum) + largest
        )
    else:
        sum = reduce_sum(weights * tf.exp(a - largest), axes, keepdims=True)
        result = tf.math.log(sum) + largest
    return result if keepdims else tf.squeeze(result, axes)


@native("scipy.special.softmax")
def softmax(x: Array, axis: Axis = None) -> tf.Tensor:
    """Return the exponentials divided by their sum."""
    x = _inexact(x)
    axes = _axes(x, axis)
    powers = tf.exp(x - tf.stop_gradient(reduce_max(x, axes, keepdims=True)))
    return powers / reduce_sum(powers, axes, keepdims=True)


@native("scipy.special.log_softmax")
def log_softmax(x: Array, axis: Axis = None) -> tf.Tensor:
    """Return the logarithm of `softmax`."""
    x = _inexact(x)
    axes = _axes(x, axis)
    exponents = x - _largest(x, axes)
    return exponents - tf.math.log(reduce_sum(tf.exp(exponents), axes, keepdims=True))
