"""Powers of complex numbers."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.dtype_dispatch import Function, broadcast_together, constant
from np2tf.tnp._ufuncs.complex import _product, _product_in_c, parts, prefer_kernel, reciprocal
from np2tf.tnp._ufuncs.complex_functions import exp, log


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
