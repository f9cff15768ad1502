"""Arithmetic, tests and comparisons of complex numbers with NumPy's conventions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import tensorflow as tf

from np2tf.tnp._tensor.dtype_dispatch import Function, are_within, constant, xla_may_compile
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._ufuncs.real import copysign


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
    """Return a function that uses TensorFlow's `kernel` if its eager results are moderate, else `formula`.

    The kernels for vectors of numbers use the squared length, which overflows, and XLA has limits of its
    own. In graphs only `formula` is used.

    Args:
        kernel: right for ordinary numbers, and fast.
        formula: NumPy's formula, right for all numbers.
        limit: gives the largest trusted part of a result from the largest number of the dtype; None trusts
            every finite result.
        but_zero: whether the kernel loses the signs of a zero result.
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
divide = prefer_kernel(lambda a, b: tf.raw_ops.RealDiv(x=a, y=b), _quotient)
square = prefer_kernel(lambda z: tf.raw_ops.Mul(x=z, y=z), lambda z: _product(z, z))


def use_in_graphs(formula: Function, kernel: Function) -> Function:
    """`formula` in graphs, which XLA may compile; TensorFlow's `kernel` eagerly."""
    return lambda z: kernel(z) if tf.executing_eagerly() else formula(z)


def _absolute(z: tf.Tensor) -> tf.Tensor:
    length = tf.abs(z)
    length = tf.where(isnan(z), constant(math.nan, length), length)
    return tf.where(isinf(z), constant(math.inf, length), length)


absolute = use_in_graphs(_absolute, tf.abs)
