"""Complex numbers with NumPy's conventions: arithmetic, elementary functions, powers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from np2tf.arrays.functions.ufuncs import real as floats
from np2tf.arrays.functions.ufuncs.real import copysign, hypot, signbit, times_cosh, times_sinh
from np2tf.arrays.tensors.axis_reductions import reduce_any
from np2tf.arrays.tensors.dtype_dispatch import (
    Function,
    are_within,
    broadcast_together,
    constant,
    xla_may_compile,
)
from np2tf.arrays.tensors.dtype_dispatch import maximum as larger_of
from np2tf.arrays.tensors.dtype_dispatch import minimum as smaller_of

# -- complex -------------------------------------------------------------------------------------------------
# Arithmetic, tests and comparisons of complex numbers with NumPy's conventions.


def parts(z: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the real and the imaginary part."""
    return tf.math.real(z), tf.math.imag(z)


def isnan(z: tf.Tensor) -> tf.Tensor:
    """Return where the real or the imaginary part is NaN."""
    return tf.math.is_nan(tf.math.real(z)) | tf.math.is_nan(tf.math.imag(z))


def isinf(z: tf.Tensor) -> tf.Tensor:
    """Return where the real or the imaginary part is infinite."""
    return tf.math.is_inf(tf.math.real(z)) | tf.math.is_inf(tf.math.imag(z))


def isfinite(z: tf.Tensor) -> tf.Tensor:
    """Return where both parts are finite."""
    return tf.math.is_finite(tf.math.real(z)) & tf.math.is_finite(tf.math.imag(z))


def less(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Compare in lexicographic order: by the real parts, then by the imaginary parts. NaN compares false."""
    (real_a, imag_a), (real_b, imag_b) = parts(a), parts(b)
    has_nan = tf.math.is_nan(imag_a) | tf.math.is_nan(imag_b)
    by_imaginary = tf.equal(real_a, real_b) & tf.less(imag_a, imag_b)
    return (tf.less(real_a, real_b) & ~has_nan) | by_imaginary


def maximum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the larger number in lexicographic order; NaN if one of them is NaN."""
    return tf.where(isnan(a) | (~isnan(b) & ~less(a, b)), a, b)


def minimum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the smaller number in lexicographic order; NaN if one of them is NaN."""
    return tf.where(isnan(a) | (~isnan(b) & ~less(b, a)), a, b)


# -- quotients and products: NumPy's formulas, to the part that becomes infinite or NaN ---------------------


def prefer_kernel(
    kernel: Function,
    formula: Function,
    limit: Callable[[float], float] | None = None,
    but_zero: bool = False,
) -> Function:
    """Return a function that uses TensorFlow's `kernel` if its eager results are moderate, else NumPy's
    `formula`. The largest trusted part of a result is `limit` of the largest number of the dtype; None trusts
    every finite result. `but_zero` says that the kernel loses the signs of a zero result.

    The kernels for vectors of numbers use the squared length, which overflows, and XLA has limits of its
    own. In graphs only `formula` is used.
    """

    def call(*operands: tf.Tensor) -> tf.Tensor:
        if tf.executing_eagerly():
            result = kernel(*operands)
            if are_within(result, limit) and not (but_zero and reduce_any(tf.equal(result, 0))):
                return result
        return formula(*operands)

    return call


def _sign(z: tf.Tensor) -> tf.Tensor:
    (real, imag), length = parts(z), absolute(z)
    zero, one, nan = (constant(value, length) for value in (0, 1, math.nan))
    is_zero, endless, along = tf.equal(length, zero), tf.math.is_inf(length), tf.math.is_inf(real)
    unit = tf.where(is_zero | endless, one, length)
    # The length of finite numbers may overflow too: for NumPy such numbers point along the imaginary axis.
    width = tf.where(endless, tf.where(along, copysign(one, real), zero), real / unit)
    height = tf.where(endless, tf.where(along, zero, copysign(one, imag)), imag / unit)
    is_undefined = (along & tf.math.is_inf(imag)) | tf.math.is_nan(length)
    width, height = (tf.where(is_undefined, nan, tf.where(is_zero, zero, part)) for part in (width, height))
    return tf.complex(width, height)


def sign(z: tf.Tensor) -> tf.Tensor:
    """Return ``z / |z|``, and 0 for 0. For one infinite part return its direction, for two infinite parts
    NaN.
    """
    if tf.executing_eagerly():
        (real, imag), length = parts(z), tf.abs(z)
        if are_within(length):
            result = tf.complex(real / length, imag / length)
            if are_within(result):
                return result
    return _sign(z)


def _quotient(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    (real_a, imag_a), (real_b, imag_b) = parts(a), parts(b)
    ratio, whole, is_wide = _smith(real_b, imag_b)
    real = tf.where(is_wide, real_a + imag_a * ratio, real_a * ratio + imag_a) / whole
    imag = tf.where(is_wide, imag_a - real_a * ratio, imag_a * ratio - real_a) / whole
    by_zero, zero = tf.equal(b, constant(0, b)), constant(0, real_b)
    return tf.complex(tf.where(by_zero, real_a / zero, real), tf.where(by_zero, imag_a / zero, imag))


def reciprocal(z: tf.Tensor) -> tf.Tensor:
    """Return ``1 / z``."""
    ratio, whole, is_wide = _smith(*parts(z))
    one = constant(1, ratio)
    return tf.complex(tf.where(is_wide, one, ratio) / whole, -tf.where(is_wide, ratio, one) / whole)


def _smith(real: tf.Tensor, imag: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Prepare a division by a complex number in NumPy's way, in which no intermediate result overflows.

    Source: R. L. Smith, https://doi.org/10.1145/368637.368661.

    Returns:
        The ratio of the divisor's smaller part to the larger, the final real divisor, and a boolean tensor
        that is true where the real part is the larger.
    """
    is_wide = tf.abs(imag) <= tf.abs(real)
    large, small = tf.where(is_wide, real, imag), tf.where(is_wide, imag, real)
    ratio = small / large
    return ratio, large + small * ratio, is_wide


def _subtracts_at_once() -> bool:
    with np.errstate(all="ignore"):
        return bool(np.square(np.full(8, 1e200 + 1e200j)).real[0] == -np.inf)


#: True if NumPy, on this processor, subtracts one product from another without rounding the first product.
_HAS_FUSED_PRODUCTS = _subtracts_at_once()


def _product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    (real_a, imag_a), (real_b, imag_b) = parts(a), parts(b)
    real_product, imag_product = real_a * real_b, imag_a * imag_b
    real, imag = real_product - imag_product, real_a * imag_b + imag_a * real_b
    if _HAS_FUSED_PRODUCTS:
        is_finite = tf.math.is_finite(real_a) & tf.math.is_finite(real_b)
        real = tf.where(tf.math.is_inf(imag_product) & is_finite, -imag_product, real)
    return tf.complex(real, imag)


def _product_in_c(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return C's product: infinite if one factor is infinite and the other is not zero (C17, annex G.5.1)."""
    (real_a, imag_a), (real_b, imag_b) = parts(a), parts(b)
    real, imag = real_a * real_b - imag_a * imag_b, real_a * imag_b + imag_a * real_b
    is_infinite = tf.math.is_nan(real) & tf.math.is_nan(imag) & (isinf(a) | isinf(b))
    (real_a, imag_a), (real_b, imag_b) = _direction(a), _direction(b)
    infinity = constant(math.inf, real)
    return tf.complex(
        tf.where(is_infinite, infinity * (real_a * real_b - imag_a * imag_b), real),
        tf.where(is_infinite, infinity * (real_a * imag_b + imag_a * real_b), imag),
    )


def _direction(z: tf.Tensor) -> list[tf.Tensor]:
    """Return the parts with NaN replaced by 0. An infinite number has 1 for an infinite part, and 0
    otherwise.
    """
    infinite = isinf(z)
    return [
        copysign(
            tf.where(
                infinite,
                tf.cast(tf.math.is_inf(part), part.dtype),
                tf.where(tf.math.is_nan(part), tf.zeros_like(part), part),
            ),
            part,
        )
        for part in parts(z)
    ]


def _by_parts(kernel: Function, formula: Function) -> Function:
    """Return a function that computes with real numbers where XLA may compile it.

    XLA's code for CPUs takes ``z + 0`` and ``z * 1`` for z, and ``z + w - w`` too.
    """
    return lambda a, b: formula(*parts(a), *parts(b)) if xla_may_compile() else kernel(a, b)


add = _by_parts(tf.add, lambda a, b, c, d: tf.complex(a + c, b + d))
subtract = _by_parts(tf.subtract, lambda a, b, c, d: tf.complex(a - c, b - d))
multiply = _by_parts(tf.multiply, lambda a, b, c, d: tf.complex(a * c - b * d, a * d + b * c))
divide = prefer_kernel(lambda a, b: gen_math_ops.RealDiv(x=a, y=b), _quotient)
square = prefer_kernel(lambda z: gen_math_ops.Mul(x=z, y=z), lambda z: _product(z, z))


def use_in_graphs(formula: Function, kernel: Function) -> Function:
    """`formula` in graphs, which XLA may compile; TensorFlow's `kernel` eagerly."""
    return lambda z: kernel(z) if tf.executing_eagerly() else formula(z)


def _absolute(z: tf.Tensor) -> tf.Tensor:
    length = tf.abs(z)
    length = tf.where(isnan(z), constant(math.nan, length), length)
    return tf.where(isinf(z), constant(math.inf, length), length)


absolute = use_in_graphs(_absolute, tf.abs)


# -- complex functions ---------------------------------------------------------------------------------------
# Exponentials, logarithms, roots and circular functions of complex numbers.

#: The interval of lengths that count as near one: their logarithms are small.
_NEAR_ONE = 0.5, 2.0


#: Logarithms of lengths from which TensorFlow's own function has all its digits but two.
_SMALL = 0.01


def _square_and_rest(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a number's square, and the rounding error of the square (Dekker's product)."""
    digits = np.finfo(x.dtype.as_numpy_dtype).nmant + 1
    wide = x * constant(2.0 ** -(-digits // 2) + 1, x)
    high = wide - (wide - x)
    low = x - high
    whole = x * x
    return whole, ((high * high - whole) + constant(2, x) * high * low) + low * low


def _log_near_one(long: tf.Tensor, short: tf.Tensor) -> tf.Tensor:
    """The logarithm of a length near one, of its longer and its shorter side, to the last digit."""
    (a, rest_a), (b, rest_b) = _square_and_rest(long), _square_and_rest(short)
    above = a - constant(1, a)
    total = above + b
    rounding_error = (above - (total - b)) + (b - (total - (total - b)))
    return constant(0.5, long) * tf.math.log1p(total + (rounding_error + (rest_a + rest_b)))


@tf.custom_gradient
def _log_of_parts(z: tf.Tensor) -> Any:
    real, imag = parts(z)
    a, b = tf.abs(real), tf.abs(imag)
    long, short = larger_of(a, b), smaller_of(a, b)
    is_plain = tf.equal(long, constant(0, long)) | tf.math.is_inf(long)
    ratio = tf.where(is_plain, constant(0, long), short / long)
    length = tf.math.log(long) + constant(0.5, long) * tf.math.log1p(ratio * ratio)
    low, high = (constant(end, long) for end in _NEAR_ONE)
    is_near = (long > low) & (long < high)
    near = _log_near_one(tf.where(is_near, long, constant(1, long)), tf.where(is_near, short, low))
    length = tf.where(is_near, near, length)
    length = tf.where(tf.math.is_inf(a) | tf.math.is_inf(b), constant(math.inf, long), length)
    length = tf.where(isnan(z) & ~isinf(z), constant(math.nan, long), length)
    return tf.complex(length, tf.math.atan2(imag, real)), lambda upstream: upstream / tf.math.conj(z)


_log = prefer_kernel(tf.math.log, _log_of_parts, lambda top: 0.49 * math.log(top))


def log(z: tf.Tensor) -> tf.Tensor:
    """The natural logarithm."""
    result = _log(z)
    if tf.executing_eagerly() and reduce_any(tf.abs(tf.math.real(result)) < _SMALL):
        return _log_of_parts(z)
    return result


def scaled_log(base: float) -> Function:
    """Logarithm to another base."""
    return lambda z: _scale(log(z), 1 / math.log(base))


def log1p(z: tf.Tensor) -> tf.Tensor:
    """``log(1 + z)``"""
    real, imag = parts(z)
    real = real + constant(1, real)
    return tf.complex(tf.math.log(hypot(real, imag)), tf.math.atan2(imag, real))


def _scale(z: tf.Tensor, factor: float) -> tf.Tensor:
    real, imag = parts(z)
    return tf.complex(real * constant(factor, real), imag * constant(factor, imag))


def _exp_of_parts(z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    # Multiplied in two factors: the exponential may overflow where its product with the cosine does not.
    root = floats.exp(real * constant(0.5, real))
    result = [root * function(imag) * root for function in (tf.cos, tf.sin)]
    endless = ~tf.math.is_finite(imag)
    above = endless & tf.equal(real, constant(math.inf, real))
    below = endless & tf.equal(real, constant(-math.inf, real))
    zero = constant(0, real)
    on_axis = tf.equal(imag, zero)
    return tf.complex(
        tf.where(above, real, tf.where(below, zero, tf.where(on_axis, floats.exp(real), result[0]))),
        tf.where(below, copysign(zero, imag), tf.where(on_axis, imag, result[1])),
    )


def _with_derivative(formula: Function, derivative: Function) -> Function:
    """Return `formula` with the derivative of the holomorphic function.

    TensorFlow's derivative of a case that is chosen where a part is zero knows nothing of numbers beside it.
    """

    @tf.custom_gradient
    def call(z: tf.Tensor) -> Any:
        return formula(z), lambda upstream: upstream * tf.math.conj(derivative(z))

    return call


exp: Function = prefer_kernel(tf.exp, _with_derivative(_exp_of_parts, lambda z: exp(z)))


def exp2(z: tf.Tensor) -> tf.Tensor:
    """``2 ** z``"""
    return exp(_scale(z, math.log(2)))


def expm1(z: tf.Tensor) -> tf.Tensor:
    """``exp(z) - 1``"""
    real, imag = parts(z)
    half = tf.sin(imag / constant(2, imag))
    cosine = floats.expm1(real) * tf.cos(imag) - constant(2, half) * tf.square(half)
    return tf.complex(cosine, floats.exp(real) * tf.sin(imag))


def _with_sign(x: tf.Tensor, sign: tf.Tensor) -> tf.Tensor:
    return tf.where(signbit(sign), -x, x)


def _mirror(function: Function) -> Function:
    """Return `function` evaluated by ``f(conj z) = conj f(z)``, as XLA takes -0 for 0."""

    def call(z: tf.Tensor) -> tf.Tensor:
        real, imag = parts(z)
        above, height = parts(function(tf.complex(real, _with_sign(imag, imag))))
        return tf.complex(above, _with_sign(height, imag))

    return call


def _reflect_odd(function: Function) -> Function:
    """Return `function` evaluated by ``f(conj z) = conj f(z)`` and ``f(-z) = -f(z)``.

    The function itself only gets numbers whose parts are not negative.
    """

    def call(z: tf.Tensor) -> tf.Tensor:
        real, imag = parts(z)
        width, height = parts(function(tf.complex(_with_sign(real, real), _with_sign(imag, imag))))
        return tf.complex(_with_sign(width, real), _with_sign(height, imag))

    return call


def _quarter(z: tf.Tensor) -> tf.Tensor:
    """``iz``"""
    real, imag = parts(z)
    return tf.complex(-imag, real)


def _rotate(function: Function) -> Function:
    """Return ``z -> -i f(iz)``: a circular function from the corresponding hyperbolic function."""

    def call(z: tf.Tensor) -> tf.Tensor:
        width, height = parts(function(_quarter(z)))
        return tf.complex(height, -width)

    return call


def _keep_on_axes(function: Function, real_axis: bool = True, imaginary_axis: bool = True) -> Function:
    """Return `function` with numbers on an axis mapped to numbers on that axis, also NaN and infinities."""

    def call(z: tf.Tensor) -> tf.Tensor:
        (real, imag), (width, height) = parts(z), parts(function(z))
        zero = constant(0, real)
        if imaginary_axis:
            width = tf.where(tf.equal(real, zero) & ~tf.math.is_finite(imag), real, width)
        if real_axis:
            height = tf.where(tf.equal(imag, zero) & ~tf.math.is_finite(real), imag, height)
        return tf.complex(width, height)

    return call


def _propagate_nan(function: Function) -> Function:
    """Return NaN where one part of z is NaN and the other finite; XLA would keep the other's distance."""

    def call(z: tf.Tensor) -> tf.Tensor:
        is_undefined = isnan(z) & ~isinf(z)
        return tf.where(is_undefined, constant(complex(math.nan, math.nan), z), function(z))

    return call


def _sinh(z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    width = tf.where(_is_endless(z), tf.abs(real), times_sinh(real, tf.cos(imag)))
    return tf.complex(width, times_cosh(real, tf.sin(imag)))


def _sin(z: tf.Tensor) -> tf.Tensor:
    width, height = parts(_rotate(_keep_on_axes(_sinh))(z))
    return tf.complex(width, tf.where(_is_endless(_quarter(z)), tf.abs(height), height))


def _cosh(z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    zero = constant(0, real)
    height = times_sinh(real, tf.sin(imag))
    on_real, on_imaginary = tf.equal(imag, zero), tf.equal(real, zero) & ~tf.math.is_finite(imag)
    height = tf.where(on_real & tf.math.is_inf(real), _with_sign(imag, real), height)
    height = tf.where(on_imaginary, zero, tf.where(on_real & tf.math.is_nan(real), imag, height))
    width = tf.where(_is_endless(z), tf.abs(real), times_cosh(real, tf.cos(imag)))
    return tf.complex(width, height)


def _is_endless(z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    return tf.math.is_inf(real) & ~tf.math.is_finite(imag)


def _arctanh(z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    one, quarter = constant(1, real), constant(0.25, real)
    length, distance = hypot(real, imag), hypot(one - real, imag)
    is_near, is_far = distance < quarter, length > constant(1e9, real)
    safe = tf.where(is_near | is_far, one, distance)
    aside = quarter * tf.math.log1p(constant(4, real) * tf.where(is_far, one, real) / (safe * safe))
    close = tf.math.log(hypot(one + real, imag) / tf.where(is_near, distance, one)) / constant(2, real)
    width = tf.where(is_far, real / length / length, tf.where(is_near, close, aside))
    angle = tf.math.atan2(imag + imag, (one - real) * (one + real) - imag * imag) / constant(2, real)
    height = tf.where(is_far & ~tf.math.is_nan(imag), constant(math.pi / 2, real), angle)
    return tf.complex(tf.where(isinf(z), tf.zeros_like(real), width), height)


def _arccos(z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    one, limit = constant(1, real), constant(real.dtype.max**0.4, real)
    is_large = isinf(z) | (tf.abs(real) > limit) | (tf.abs(imag) > limit)
    width, height = parts(_mirror(_propagate_nan(tf.math.acos))(z))
    upright = tf.equal(real, constant(0, real)) & tf.math.is_nan(imag)
    width = tf.where(upright, constant(math.pi / 2, real), width)
    # Before 2.21, XLA of TensorFlow has -0 for 0, NaN for large numbers, and other sides of branch cuts.
    x, y = tf.where(is_large, real, one), tf.where(is_large, tf.abs(imag), one)
    length = tf.where(isinf(z), constant(math.inf, real), hypot(x / 2, y / 2))
    width = tf.where(is_large, tf.math.atan2(y, x), tf.abs(width))
    height = tf.where(is_large, tf.math.log(length) + constant(math.log(4), real), tf.abs(height))
    return tf.complex(width, _with_sign(height, -imag))


def _arccosh(z: tf.Tensor) -> tf.Tensor:
    """Return ``i arccos(z)`` or ``-i arccos(z)``, whichever has no negative real part."""
    imag = tf.math.imag(z)
    width, height = parts(_arccos(z))
    return tf.complex(tf.abs(height), tf.where(tf.math.is_nan(imag), width, _with_sign(width, imag)))


def _root(z: tf.Tensor) -> tf.Tensor:
    real, imag = parts(z)
    a, b = tf.abs(real), tf.abs(imag)
    long, short = larger_of(a, b), smaller_of(a, b)
    zero, one, half = (constant(value, long) for value in (0, 1, 0.5))
    is_zero = tf.equal(long, zero)
    ratio = short / tf.where(is_zero, one, long)
    length = tf.sqrt(one + ratio * ratio)
    larger = tf.sqrt(long) * tf.sqrt(half * (tf.where(a >= b, one, ratio) + length))
    smaller = tf.where(is_zero, zero, b / tf.where(is_zero, one, larger + larger))
    is_right = ~signbit(real)
    width, height = tf.where(is_right, larger, smaller), tf.where(is_right, smaller, larger)
    # An infinite part stands alone, and NaN beside a finite one makes all NaN.
    nan, infinity = constant(math.nan, long), constant(math.inf, long)
    above, beside = tf.math.is_inf(b), tf.math.is_inf(a)
    default = tf.where(tf.math.is_nan(imag), nan, zero)
    width = tf.where(above, infinity, tf.where(beside, tf.where(is_right, infinity, default), width))
    height = tf.where(above | (beside & ~is_right), infinity, tf.where(beside, default, height))
    is_undefined = isnan(z) & ~isinf(z)
    width, height = (tf.where(is_undefined, nan, part) for part in (width, height))
    return tf.complex(width, _with_sign(height, imag))


sqrt: Function = prefer_kernel(
    tf.sqrt, _with_derivative(_root, lambda z: reciprocal(constant(2, z) * sqrt(z))), but_zero=True
)


def _one_plus(z: tf.Tensor, factor: float = 1) -> tf.Tensor:
    """``1 + factor * z`` for a factor of 1 or -1, with the sign of a zero imaginary part."""
    real, imag = parts(z)
    return tf.complex(constant(1, real) + constant(factor, real) * real, constant(factor, imag) * imag)


def _arcsin_derivative(z: tf.Tensor) -> tf.Tensor:
    return reciprocal(sqrt(_one_plus(z)) * sqrt(_one_plus(z, -1)))


arcsin = use_in_graphs(
    _with_derivative(
        _keep_on_axes(_reflect_odd(_propagate_nan(tf.math.asin)), real_axis=False), _arcsin_derivative
    ),
    tf.math.asin,
)


def _asinh(z: tf.Tensor) -> tf.Tensor:
    """Of parts that are not negative; before 2.21, XLA of TensorFlow gives -0 for 0."""
    width, height = parts(tf.math.asinh(z))
    return tf.complex(tf.abs(width), tf.abs(height))


arcsinh = use_in_graphs(
    _with_derivative(
        _keep_on_axes(_reflect_odd(_propagate_nan(_asinh)), imaginary_axis=False),
        lambda z: _arcsin_derivative(_quarter(z)),
    ),
    tf.math.asinh,
)


_arctanh_everywhere = _keep_on_axes(_reflect_odd(_propagate_nan(_arctanh)), real_axis=False)


arctanh = use_in_graphs(
    _with_derivative(_arctanh_everywhere, lambda z: reciprocal(constant(1, z) - z * z)), tf.math.atanh
)


arctan = use_in_graphs(
    _with_derivative(_rotate(_arctanh_everywhere), lambda z: reciprocal(constant(1, z) + z * z)), tf.math.atan
)


sinh = use_in_graphs(_with_derivative(_keep_on_axes(_sinh), lambda z: cosh(z)), tf.sinh)
cosh: Function = use_in_graphs(_with_derivative(_cosh, lambda z: sinh(z)), tf.cosh)


sin = use_in_graphs(_with_derivative(_sin, lambda z: cos(z)), tf.sin)
cos: Function = use_in_graphs(_with_derivative(lambda z: _cosh(_quarter(z)), lambda z: -sin(z)), tf.cos)


tanh: Function = use_in_graphs(
    _with_derivative(_keep_on_axes(_reflect_odd(tf.tanh)), lambda z: constant(1, z) - tanh(z) * tanh(z)),
    tf.tanh,
)
tan: Function = use_in_graphs(
    _with_derivative(_keep_on_axes(_reflect_odd(tf.tan)), lambda z: constant(1, z) + tan(z) * tan(z)), tf.tan
)


arccos = use_in_graphs(_with_derivative(_arccos, lambda z: -_arcsin_derivative(z)), tf.math.acos)
arccosh = use_in_graphs(
    _with_derivative(_arccosh, lambda z: reciprocal(sqrt(_one_plus(z)) * sqrt(z - constant(1, z)))),
    tf.math.acosh,
)


# -- complex powers ------------------------------------------------------------------------------------------
# Powers of complex numbers.


def _powers(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return powers as NumPy does: small whole exponents by multiplication, other exponents by the
    logarithm.
    """
    real, imag = parts(b)
    zero, one, nan = (constant(value, a) for value in (0, 1, complex(math.nan, math.nan)))
    of_zero = tf.equal(a, zero)
    base = tf.where(of_zero, one, a)
    result = exp(_product_in_c(b, log(base)))
    is_whole = tf.equal(imag, constant(0, imag)) & tf.equal(real, tf.round(real))
    is_small = is_whole & tf.less(tf.abs(real), constant(100, real))
    count = tf.cast(tf.where(is_small, tf.abs(real), tf.zeros_like(real)), tf.int32)
    product, factor = tf.broadcast_to(one, tf.shape(result)), base
    for bit in range(7):
        new_product = _product(product, factor) if bit else factor
        product = tf.where(tf.equal(tf.bitwise.right_shift(count, bit) & 1, 1), new_product, product)
        factor = _product(factor, factor)
    product = tf.where(tf.less(real, constant(0, real)), reciprocal(product), product)
    result = tf.where(is_small, product, result)
    is_positive = tf.greater(real, constant(0, real))
    result = tf.where(of_zero, tf.where(is_positive, zero, nan), result)
    return tf.where(tf.equal(b, zero), one, result)


@tf.custom_gradient
def _differentiable_powers(a: tf.Tensor, b: tf.Tensor) -> Any:
    """Return powers with derivatives as TensorFlow's kernel has them: 0 for an exponent or a base of 0."""

    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        zero, one = constant(0, a), constant(1, a)
        of_base = tf.where(tf.equal(b, zero), zero, b * power(a, b - one))
        is_zero = tf.equal(a, zero)
        logarithm = tf.where(is_zero, zero, log(tf.where(is_zero, one, a)))
        of_exponent = power(a, b) * logarithm
        return upstream * tf.math.conj(of_base), upstream * tf.math.conj(of_exponent)

    return _powers(a, b), gradient


power: Function = prefer_kernel(tf.pow, lambda a, b: _differentiable_powers(*broadcast_together(a, b)))
