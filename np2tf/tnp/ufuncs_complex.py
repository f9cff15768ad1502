"""Functions of complex numbers with NumPy's conventions."""

from __future__ import annotations

import math
from collections.abc import Callable

import tensorflow as tf

from np2tf.tnp.kernels import Function, constant
from np2tf.tnp.ufuncs_float import hypot, signbit


def parts(z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The real and the imaginary part."""
    return tf.math.real(z), tf.math.imag(z)


def sign(z: tf.Tensor) -> tf.Tensor:
    """``z / |z|``, and 0 of 0; of numbers with one infinite part its direction, with two NaN."""
    length = tf.abs(z)
    zero, one, nan = (constant(value, length) for value in (0, 1, math.nan))
    infinite = [tf.math.is_inf(part) for part in parts(z)]
    unit = tf.where(tf.equal(length, zero), one, tf.where(infinite[0] & infinite[1], nan, length))
    directions = (
        tf.where(infinite[0] ^ infinite[1], tf.where(is_infinite, tf.sign(part), zero), part / unit)
        for part, is_infinite in zip(parts(z), infinite, strict=True)
    )
    return tf.complex(*directions)


def isnan(z: tf.Tensor) -> tf.Tensor:
    """Whether either part is NaN."""
    return tf.math.is_nan(tf.math.real(z)) | tf.math.is_nan(tf.math.imag(z))


def isinf(z: tf.Tensor) -> tf.Tensor:
    """Whether either part is infinite."""
    return tf.math.is_inf(tf.math.real(z)) | tf.math.is_inf(tf.math.imag(z))


def isfinite(z: tf.Tensor) -> tf.Tensor:
    """Whether both parts are finite."""
    return tf.math.is_finite(tf.math.real(z)) & tf.math.is_finite(tf.math.imag(z))


def less(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Lexicographic order: by the real parts, then by the imaginary ones; none of NaN."""
    (real_a, imag_a), (real_b, imag_b) = parts(a), parts(b)
    unordered = tf.math.is_nan(imag_a) | tf.math.is_nan(imag_b)
    by_imaginary = tf.equal(real_a, real_b) & tf.less(imag_a, imag_b)
    return (tf.less(real_a, real_b) & ~unordered) | by_imaginary


def maximum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """The larger one in lexicographic order; NaN if either is."""
    return tf.where(isnan(a) | (~isnan(b) & ~less(a, b)), a, b)


def minimum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """The smaller one in lexicographic order; NaN if either is."""
    return tf.where(isnan(a) | (~isnan(b) & ~less(b, a)), a, b)


def divide(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """``a / b``; by zero each part is divided by 0."""
    (real_a, imag_a), (real_b, imag_b) = parts(a), parts(b)
    zero = constant(0, real_b)
    by_zero = tf.complex(real_a / zero, imag_a / zero)
    if tf.executing_eagerly() and tf.reduce_all(tf.math.is_finite(tf.abs(a) + tf.abs(b))):
        quotient = tf.raw_ops.RealDiv(x=a, y=b)
    else:
        ratio, whole, is_wide = _smith(real_b, imag_b)
        real = tf.where(is_wide, real_a + imag_a * ratio, real_a * ratio + imag_a)
        imag = tf.where(is_wide, imag_a - real_a * ratio, imag_a * ratio - real_a)
        quotient = tf.complex(real / whole, imag / whole)
    return tf.where(tf.equal(b, constant(0, b)), by_zero, quotient)


def power(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """``a ** b``, with ``0 ** 0 == 1``; 0 to a power with no positive real part is NaN."""
    zero, one, nan = (constant(value, a) for value in (0, 1, math.nan))
    of_zero = tf.equal(a, zero)
    real = tf.math.real(b)
    is_positive = tf.greater(real, constant(0, real))
    result = tf.pow(tf.where(of_zero, one, a), b)
    result = tf.where(of_zero, tf.where(is_positive, zero, nan), result)
    return tf.where(tf.equal(b, zero), one, result)


def reciprocal(z: tf.Tensor) -> tf.Tensor:
    """``1 / z``"""
    ratio, whole, is_wide = _smith(*parts(z))
    one = constant(1, ratio)
    return tf.complex(tf.where(is_wide, one, ratio) / whole, -tf.where(is_wide, ratio, one) / whole)


def _smith(real: tf.Tensor, imag: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """How to divide by a number without overflow in between, as NumPy does: the ratio of its smaller part to
    the larger, what is divided by in the end, and whether the real part is the larger.

    Source: R. L. Smith, https://doi.org/10.1145/368637.368661.
    """
    is_wide = tf.abs(imag) <= tf.abs(real)
    large, small = tf.where(is_wide, real, imag), tf.where(is_wide, imag, real)
    ratio = small / large
    return ratio, large + small * ratio, is_wide


# -- each part by itself, where a complex product would be inf * 0 -------------------------------------------


def scaled_log(base: float) -> Function:
    """Logarithm to another base."""
    return lambda z: _scaled(tf.math.log(z), 1 / math.log(base))


def exp2(z: tf.Tensor) -> tf.Tensor:
    """``2 ** z``"""
    return exp(_scaled(z, math.log(2)))


def expm1(z: tf.Tensor) -> tf.Tensor:
    """``exp(z) - 1``"""
    real, imag = parts(z)
    half = tf.sin(imag / constant(2, imag))
    cosine = tf.math.expm1(real) * tf.cos(imag) - constant(2, half) * tf.square(half)
    return tf.complex(cosine, tf.exp(real) * tf.sin(imag))


def log1p(z: tf.Tensor) -> tf.Tensor:
    """``log(1 + z)``"""
    real, imag = parts(z)
    real = real + constant(1, real)
    return tf.complex(tf.math.log(hypot(real, imag)), tf.math.atan2(imag, real))


def _scaled(z: tf.Tensor, factor: float) -> tf.Tensor:
    real, imag = parts(z)
    return tf.complex(real * constant(factor, real), imag * constant(factor, imag))


# -- where TensorFlow or XLA has other limits than C's functions, which NumPy calls --------------------------


def in_graphs(mended: Callable[[Function, tf.Tensor], tf.Tensor]) -> Callable[[Function], Function]:
    """`mended` of the function and its operand, in graphs: XLA may compile them, not TensorFlow's kernels."""
    return lambda function: lambda z: function(z) if tf.executing_eagerly() else mended(function, z)


@in_graphs
def with_cut_on_real_axis(function: Function, z: tf.Tensor) -> tf.Tensor:
    """By ``f(conj z) = conj f(z)``: XLA takes -0 beside the cut for 0."""
    real, imag = parts(z)
    below = signbit(imag)
    above = function(tf.complex(real, tf.where(below, -imag, imag)))
    return tf.where(below, tf.math.conj(above), above)


@in_graphs
def with_cut_on_imaginary_axis(function: Function, z: tf.Tensor) -> tf.Tensor:
    """The same by ``f(-conj z) = -conj f(z)``."""
    real, imag = parts(z)
    left = signbit(real)
    right = function(tf.complex(tf.where(left, -real, real), imag))
    return tf.where(left, -tf.math.conj(right), right)


@in_graphs
def _atan(function: Function, z: tf.Tensor) -> tf.Tensor:
    real, result = tf.math.real(z), function(z)
    return tf.where(tf.math.is_nan(real), tf.complex(real, tf.math.imag(result)), result)


@in_graphs
def _atanh(function: Function, z: tf.Tensor) -> tf.Tensor:
    imag, result = tf.math.imag(z), function(z)
    return tf.where(tf.math.is_nan(imag), tf.complex(tf.math.real(result), imag), result)


@in_graphs
def _absolute(function: Function, z: tf.Tensor) -> tf.Tensor:
    length = function(z)
    length = tf.where(isnan(z), constant(math.nan, length), length)
    return tf.where(isinf(z), constant(math.inf, length), length)


@in_graphs
def _exp(function: Function, z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    vanishes = tf.equal(real, constant(-math.inf, real)) & ~tf.math.is_finite(imag)
    return tf.where(vanishes, constant(0, z), function(z))


@in_graphs
def _sin(function: Function, z: tf.Tensor) -> tf.Tensor:
    real, result = tf.math.real(z), function(z)
    return tf.where(tf.equal(real, constant(0, real)), tf.complex(real, tf.math.imag(result)), result)


@in_graphs
def _cos(function: Function, z: tf.Tensor) -> tf.Tensor:
    (real, imag), result = parts(z), function(z)
    return tf.where(
        tf.equal(real, constant(0, real)), tf.complex(tf.math.real(result), -real * tf.sign(imag)), result
    )


absolute, exp, sin, cos = _absolute(tf.abs), _exp(tf.exp), _sin(tf.sin), _cos(tf.cos)
arcsin, arccos, arccosh = map(with_cut_on_real_axis, (tf.math.asin, tf.math.acos, tf.math.acosh))
arcsinh = with_cut_on_imaginary_axis(tf.math.asinh)
arctan, arctanh = (
    with_cut_on_imaginary_axis(_atan(tf.math.atan)),
    with_cut_on_real_axis(_atanh(tf.math.atanh)),
)


def sqrt(z: tf.Tensor) -> tf.Tensor:
    """The root with no negative real part."""
    (real, imag), result = parts(z), tf.sqrt(z)
    infinite = tf.where(signbit(imag), constant(-math.inf, imag), constant(math.inf, imag))
    is_left = tf.equal(real, constant(-math.inf, real)) & tf.math.is_finite(imag)
    result = tf.where(is_left, tf.complex(tf.zeros_like(real), infinite), result)
    return tf.where(tf.math.is_nan(imag) & tf.math.is_finite(real), constant(math.nan, z), result)
