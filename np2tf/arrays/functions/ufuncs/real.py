"""Functions with given derivatives, which are right also where a formula has cases."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.tensors import elementary_functions as elementary
from np2tf.arrays.tensors.dtype_dispatch import (
    BITS,
    Function,
    broadcast_together,
    constant,
    hidden_from_others,
    maximum,
    minimum,
    needs_derivatives,
    xla_may_compile,
)
from np2tf.core.errors import NoGraphFormError

# -- derivatives ---------------------------------------------------------------------------------------------

TensorFunction = Callable[..., tf.Tensor]


def differentiate_by(*partials: TensorFunction | str) -> Callable[[TensorFunction], TensorFunction]:
    """Return a decorator of functions of real numbers, which get their partial derivatives.

    Args:
        *partials: for each operand the derivative, a function of all operands; or the name of TensorFlow's
            operation if nothing computes it, which makes a gradient an error and not zero.
    """

    def decorate(function: TensorFunction) -> TensorFunction:
        @tf.custom_gradient
        def call(*operands: tf.Tensor) -> Any:
            def gradient(upstream: tf.Tensor) -> list[tf.Tensor]:
                # An infinite derivative of a result that is not used is none.
                return [
                    tf.zeros_like(upstream)
                    if isinstance(partial, str)
                    else tf.math.multiply_no_nan(partial(*operands), upstream)
                    for partial in partials
                ]

            return function(*operands), gradient

        @functools.wraps(function)
        def differentiable(*operands: tf.Tensor) -> tf.Tensor:
            if not needs_derivatives():
                return function(*operands)
            operands = broadcast_together(*operands)
            return call(
                *(
                    _refuse_gradient(operand, partial) if isinstance(partial, str) else operand
                    for operand, partial in zip(operands, partials, strict=True)
                )
            )

        return differentiable

    return decorate


def _refuse_gradient(x: tf.Tensor, name: str) -> tf.Tensor:
    """Return x, whose gradient is an error as that of an operation without a gradient."""

    @tf.custom_gradient
    def identity(x: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            raise LookupError(f"gradient registry has no entry for: {name}")

        return tf.identity(x), gradient

    return identity(x)


# -- series --------------------------------------------------------------------------------------------------
# Functions that divide by their argument, with their series near zero: all derivatives are right there.

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


# -- real ----------------------------------------------------------------------------------------------------
# Functions of real numbers that TensorFlow lacks, or rounds or signs differently from NumPy.


def signbit(x: tf.Tensor) -> tf.Tensor:
    """Return whether the sign bit is set, also for zeros and NaN."""
    if x.dtype not in BITS:
        raise NoGraphFormError(f"the sign bit of {x.dtype.name}")
    bits = tf.bitcast(x, BITS[x.dtype])
    return tf.less(bits, constant(0, bits))


def copysign(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the magnitude of a with the sign of b."""
    magnitude = tf.abs(a)
    return tf.where(signbit(b), -magnitude, magnitude)


@differentiate_by(lambda a, b: tf.ones_like(a), lambda a, b: -trunc(a / b))
def fmod(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the remainder with the dividend's sign."""
    return tf.truncatemod(a, b)


def divmod(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the quotient rounded down, and the remainder with the divisor's sign; zeros as CPython treats
    them.
    """
    if not needs_derivatives():
        return _rounded_down(a, b)
    quotient, remainder = _divmod(*broadcast_together(a, b))
    return quotient, remainder


@tf.custom_gradient
def _divmod(a: tf.Tensor, b: tf.Tensor) -> Any:
    """Return the quotient, a constant, and the remainder ``a - quotient * b`` with its derivatives."""
    quotient, remainder = _rounded_down(a, b)

    def gradient(_: tf.Tensor, upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return upstream, -upstream * tf.stop_gradient(quotient)

    return (quotient, remainder), gradient


def _rounded_down(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    zero, one = constant(0, a), constant(1, a)
    by_zero = tf.equal(b, zero)
    remainder = tf.truncatemod(a, b)
    quotient = (a - remainder) / b
    opposite = tf.not_equal(remainder, zero) & tf.not_equal(tf.less(b, zero), tf.less(remainder, zero))
    remainder = tf.where(opposite, remainder + b, remainder)
    quotient = tf.where(opposite, quotient - one, quotient)
    floor = tf.floor(quotient)
    floor = tf.where(tf.greater(quotient - floor, constant(0.5, a)), floor + one, floor)
    floor = tf.where(tf.equal(quotient, zero), copysign(zero, a / b), floor)
    remainder = tf.where(tf.equal(remainder, zero), copysign(zero, b), remainder)
    nan = constant(np.nan, a)
    return tf.where(by_zero, a / b, floor), tf.where(by_zero, nan, remainder)


def floor_divide(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the quotient rounded down."""
    return divmod(a, b)[0]


def remainder(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the remainder with the divisor's sign."""
    return divmod(a, b)[1]


def trunc(x: tf.Tensor) -> tf.Tensor:
    """Round towards zero."""
    return tf.where(tf.less(x, constant(0, x)), tf.math.ceil(x), tf.floor(x))


def modf(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the fractional and the integral part, both with the sign of x."""
    whole = trunc(x)
    fraction = tf.where(tf.math.is_inf(x), constant(0, x), x - whole)
    return copysign(fraction, x), whole


def sign(x: tf.Tensor) -> tf.Tensor:
    """Return -1, 0 or 1; NaN for NaN."""
    result = tf.where(tf.math.is_nan(x), x, tf.sign(x))
    if tf.executing_eagerly():
        return result
    zero = constant(0, x)
    return tf.where(tf.equal(x, zero), zero, result)  # XLA returns -0 for -0


def heaviside(x: tf.Tensor, at_zero: tf.Tensor) -> tf.Tensor:
    """Return the step function: 0 below 0, `at_zero` at 0, and 1 above 0."""
    zero = constant(0, x)
    step = tf.where(tf.less(x, zero), zero, constant(1, x))
    return tf.where(tf.math.is_nan(x), x, tf.where(tf.equal(x, zero), at_zero, step))


def _share(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return ``a / hypot(a, b)``, and 0 where both are 0 or one is infinite."""
    length = hypot(a, b)
    is_plain = tf.equal(length, constant(0, a)) | tf.math.is_inf(length)
    return tf.where(is_plain, constant(0, a), a / tf.where(is_plain, constant(1, a), length))


@differentiate_by(_share, lambda a, b: _share(b, a))
def hypot(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the length of the hypotenuse; no intermediate result overflows."""
    a, b = tf.abs(a), tf.abs(b)
    long, short = maximum(a, b), minimum(a, b)
    infinite = tf.math.is_inf(a) | tf.math.is_inf(b)
    plain = tf.equal(long, constant(0, a)) | infinite
    ratio = short / tf.where(plain, constant(1, a), long)
    length = long * tf.sqrt(constant(1, a) + ratio * ratio)
    return tf.where(infinite, constant(np.inf, a), tf.where(plain, long, length))


#: From this size on, adding the smaller of the two exponentials does not change the larger.
_FAR = 22.0


def _hyperbolic(x: tf.Tensor, factor: tf.Tensor, sign: float) -> tf.Tensor:
    """Return half of ``factor * (exp(|x|) + rest * exp(-|x|))``, also if the exponential alone overflows."""
    half, size = constant(0.5, x), tf.abs(x)
    is_far = size > constant(_FAR, x)
    near = tf.where(is_far, constant(0, x), size)
    growth = expm1(near)
    if sign < 0:
        sum = growth + growth / (growth + constant(1, x))
    else:
        sum = growth + constant(1, x) + constant(1, x) / (growth + constant(1, x))
    root = exp(half * size)
    far = tf.where(tf.equal(factor, constant(0, x)), factor, half * root * factor * root)
    return tf.where(is_far, far, half * sum * factor)


def times_sinh(x: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Return ``sinh(x) * factor``."""
    result = _hyperbolic(x, factor, -1.0)
    return tf.where(signbit(x), -result, result)


def times_cosh(x: tf.Tensor, factor: tf.Tensor) -> tf.Tensor:
    """Return ``cosh(x) * factor``."""
    return _hyperbolic(x, factor, 1.0)


def sinh(x: tf.Tensor) -> tf.Tensor:
    """Return the hyperbolic sine. XLA's own subtracts the logarithm of 2 from the exponent, which rounds."""
    return tf.sinh(x) if tf.executing_eagerly() else _sinh(x)


def cosh(x: tf.Tensor) -> tf.Tensor:
    """Return the hyperbolic cosine."""
    return tf.cosh(x) if tf.executing_eagerly() else _cosh(x)


# The formula takes the size of x, whose derivative at 0 is 0.
@differentiate_by(lambda x: cosh(x))
def _sinh(x: tf.Tensor) -> tf.Tensor:
    return times_sinh(x, constant(1, x))


@differentiate_by(lambda x: sinh(x))
def _cosh(x: tf.Tensor) -> tf.Tensor:
    return times_cosh(x, constant(1, x))


@differentiate_by(lambda x: constant(1 / 3, x) / tf.square(cbrt(x)))
def cbrt(x: tf.Tensor) -> tf.Tensor:
    """Return the cube root. Its derivative at 0 is infinite."""
    plain = tf.equal(x, constant(0, x)) | ~tf.math.is_finite(x)
    safe = tf.where(plain, constant(1, x), tf.abs(x))
    root = tf.pow(safe, constant(1 / 3, x))
    # A step of Newton's method corrects the error of 1/3, which is not a binary fraction.
    root = root - (root - safe / (root * root)) / constant(3, x)
    return tf.where(plain, x, copysign(root, x))


def _propagate_nan(a: tf.Tensor, b: tf.Tensor, result: tf.Tensor) -> tf.Tensor:
    """Return NaN where an operand is NaN, else `result`. XLA may lose a NaN that it knows while compiling."""
    if not xla_may_compile():
        return result
    return tf.where(tf.math.is_nan(a) | tf.math.is_nan(b), a + b, result)


def _largest_exponent(dtype: Any) -> np.floating[Any]:
    """Return the largest number whose exponential is finite."""
    number = dtype(np.log(np.finfo(dtype).max))
    with np.errstate(over="ignore"):
        return number if np.isfinite(np.exp(number)) else np.nextafter(number, dtype(0))


def _exponential(
    kernel: Callable[[tf.Tensor], tf.Tensor], slope: Callable[[tf.Tensor], tf.Tensor]
) -> Function:
    """Return TensorFlow's `kernel` of numbers whose exponential is finite, and a sum for other numbers.

    `slope` gives the derivative from the result.

    XLA's exponential of float32 and float16 on CPUs converts its argument to an integer, which is undefined
    for a NaN that the compiler knows to be one: the results are whatever lies in memory. And it ends in a
    product, which overflows for large arguments, but not if it is fused with a sum: ``x - exp(x)`` is finite
    then.
    """

    @tf.custom_gradient
    def guarded(x: tf.Tensor) -> Any:
        fits = x <= constant(_largest_exponent(x.dtype.as_numpy_dtype), x)
        inside = kernel(tf.where(fits, x, constant(0, x)))
        result = tf.where(fits, inside, x + constant(np.inf, x))
        return result, lambda upstream: upstream * slope(result)

    return lambda x: guarded(x) if x.dtype in (tf.float32, tf.float16) and xla_may_compile() else kernel(x)


exp = _exponential(tf.exp, lambda result: result)
expm1 = _exponential(tf.math.expm1, lambda result: result + constant(1, result))


def sqrt(x: tf.Tensor) -> tf.Tensor:
    """Return the square root."""
    return _sqrt(x) if needs_derivatives() else tf.sqrt(x)


@tf.custom_gradient
def _sqrt(x: tf.Tensor) -> Any:
    """Return the root. Where a gradient is 0, the product with the infinite derivative at 0 is 0.

    So is that of TensorFlow's kernel of the gradient, but not under XLA, and not for second derivatives:
    ``where(x > 0, sqrt(x), x)`` has derivatives.
    """

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        is_unused = tf.equal(upstream, constant(0, x))
        root = tf.where(is_unused, constant(1, x), _sqrt(x))
        return constant(0.5, x) * upstream / root

    return tf.sqrt(x), gradient


def exp2(x: tf.Tensor) -> tf.Tensor:
    """Return ``2**x``."""
    return tf.pow(constant(2, x), x)


def _log_of_sum(power: Callable[[tf.Tensor], tf.Tensor], scale: float) -> Callable[..., tf.Tensor]:
    """Return the logarithm of the sum of two powers. `scale` is the logarithm of e."""

    @tf.custom_gradient
    def call(a: tf.Tensor, b: tf.Tensor) -> Any:
        # Infinities of the same sign have no difference.
        is_equal = tf.equal(a, b)
        difference = tf.where(is_equal, constant(0, a), a - b)
        correction = tf.math.log1p(power(-tf.abs(difference))) * constant(scale, a)
        correction = tf.where(is_equal, constant(scale * math.log(2), a), correction)
        result = _propagate_nan(a, b, maximum(a, b) + correction)

        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            # It is written out, because the maximum has none at a == b, and as a smooth function of a and b,
            # because it has derivatives itself.
            apart = tf.where(is_equal & tf.math.is_inf(a), constant(0, a), (a - b) / constant(scale, a))
            return upstream * tf.sigmoid(apart), upstream * tf.sigmoid(-apart)

        return result, gradient

    return lambda a, b: call(*broadcast_together(a, b))


#: The functions ``log(exp(a) + exp(b))`` and ``log2(2**a + 2**b)``.
logaddexp, logaddexp2 = _log_of_sum(tf.exp, 1.0), _log_of_sum(exp2, 1 / math.log(2.0))


_POWERS_OF_2 = np.ldexp(1.0, np.arange(-1074, 1024))
_POWERS_OF_10 = np.array([float(f"1e{k}") for k in range(-323, 309)])


def _exact_log(x: tf.Tensor, base: float, powers: np.ndarray, lowest: int) -> tf.Tensor:
    """Return a logarithm that is exact at the powers of its base: programs use ``int(np.log10(1000))``."""
    result = elementary.log(x) / constant(math.log(base), x)
    whole = tf.round(result)
    position = tf.clip_by_value(whole, constant(lowest, x), constant(lowest + len(powers) - 1, x))
    index = tf.cast(tf.where(tf.math.is_nan(position), constant(lowest, x), position), tf.int32) - lowest
    with np.errstate(over="ignore", under="ignore"):
        table = tf.constant(powers.astype(x.dtype.as_numpy_dtype))
    exact = tf.equal(tf.gather(table, index), x) & tf.math.is_finite(result)
    return result + tf.stop_gradient(tf.where(exact, whole - result, constant(0, x)))


def log2(x: tf.Tensor) -> tf.Tensor:
    """Return the logarithm to base 2."""
    return _exact_log(x, 2.0, _POWERS_OF_2, -1074)


def log10(x: tf.Tensor) -> tf.Tensor:
    """Return the logarithm to base 10."""
    return _exact_log(x, 10.0, _POWERS_OF_10, -323)


def nextafter(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the next number after a in the direction of b."""
    bits = tf.bitcast(a, BITS[a.dtype])
    away = tf.equal(tf.greater(b, a), tf.greater(a, constant(0, a)))
    neighbour = tf.bitcast(tf.where(away, bits + constant(1, bits), bits - constant(1, bits)), a.dtype)
    smallest = tf.bitcast(constant(1, bits), a.dtype)
    neighbour = tf.where(tf.equal(a, constant(0, a)), copysign(smallest, b), neighbour)
    is_undefined = tf.math.is_nan(a) | tf.math.is_nan(b)
    # This case is that of zeros with different signs.
    equal_result = a if a.dtype == tf.float16 and NUMPY < (2, 5) else b
    result = tf.where(is_undefined, constant(np.nan, a), tf.where(tf.equal(a, b), equal_result, neighbour))
    return with_derivative_of(tf.broadcast_to(a, tf.shape(result)), tf.stop_gradient(result))


@tf.custom_gradient
def with_derivative_of(x: tf.Tensor, result: tf.Tensor) -> Any:
    """Return `result`, which equals x but for a constant or for rounding, with the derivative of x."""
    return tf.identity(result), lambda upstream: (upstream, None)


def spacing(x: tf.Tensor) -> tf.Tensor:
    """Return the distance to the next number away from zero."""
    infinity = constant(np.inf, x)
    # For float16 NumPy returns the distance to the next larger number, whatever the sign.
    gap = nextafter(x, infinity if x.dtype == tf.float16 else copysign(infinity, x)) - x
    return tf.where(tf.math.is_inf(x), constant(np.nan, x), tf.stop_gradient(gap))


def _power_of_2(exponent: tf.Tensor) -> tf.Tensor:
    """Return ``2.0 ** exponent`` for -1022 <= exponent <= 1023, exactly."""
    return tf.bitcast(tf.bitwise.left_shift(exponent + 1023, tf.constant(52, tf.int64)), tf.float64)


def ldexp(x: tf.Tensor, exponent: tf.Tensor) -> tf.Tensor:
    """Return ``x * 2**exponent``, also if the power alone overflows."""
    exponent = tf.clip_by_value(tf.cast(exponent, tf.int64), -2200, 2200)
    third = tf.math.floordiv(exponent, tf.constant(3, tf.int64))
    factor = _power_of_2(third)
    # The product of the factors alone may overflow, so that no optimiser may reorder the multiplications.
    product = hidden_from_others(hidden_from_others(tf.cast(x, tf.float64) * factor) * factor)
    return tf.cast(product * _power_of_2(exponent - 2 * third), x.dtype)


def frexp(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a mantissa in [0.5, 1) and an exponent of 2."""
    wide = tf.cast(x, tf.float64)
    plain = tf.equal(wide, constant(0, wide)) | ~tf.math.is_finite(wide)
    subnormal = tf.less(tf.abs(wide), constant(np.finfo(np.float64).tiny, wide))
    bits = tf.bitcast(tf.where(subnormal, wide * constant(2.0**54, wide), wide), tf.int64)
    field = tf.bitwise.bitwise_and(
        tf.bitwise.right_shift(bits, tf.constant(52, tf.int64)), constant(0x7FF, bits)
    )
    exponent = field - 1022 - tf.where(subnormal, constant(54, bits), constant(0, bits))
    significand_bits = tf.bitwise.bitwise_and(bits, constant(~(0x7FF << 52), bits))
    mantissa = tf.bitcast(tf.bitwise.bitwise_or(significand_bits, constant(1022 << 52, bits)), tf.float64)
    # Bits have no gradient, so the gradient is that of x scaled by the same power of 2.
    scale = tf.stop_gradient(mantissa / tf.where(plain, constant(1, wide), wide))
    mantissa = mantissa + (wide - tf.stop_gradient(wide)) * scale
    return (
        tf.where(plain, x, tf.cast(mantissa, x.dtype)),
        tf.where(plain, 0, tf.cast(exponent, tf.int32)),
    )
