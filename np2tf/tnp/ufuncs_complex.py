"""Functions of complex numbers with NumPy's conventions."""

from __future__ import annotations

import math

import tensorflow as tf

from np2tf.tnp.kernels import Function, constant


def sign(z: tf.Tensor) -> tf.Tensor:
    """``z / |z|``, and 0 of 0."""
    length = tf.abs(z)
    unit = tf.where(tf.equal(length, constant(0, length)), constant(1, length), length)
    return tf.complex(tf.math.real(z) / unit, tf.math.imag(z) / unit)


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
    """Lexicographic order: by the real parts, then by the imaginary ones."""
    real_a, real_b = tf.math.real(a), tf.math.real(b)
    return tf.less(real_a, real_b) | (tf.equal(real_a, real_b) & tf.less(tf.math.imag(a), tf.math.imag(b)))


def maximum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """The larger one in lexicographic order; NaN if either is."""
    return tf.where(isnan(a) | (~isnan(b) & ~less(a, b)), a, b)


def minimum(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """The smaller one in lexicographic order; NaN if either is."""
    return tf.where(isnan(a) | (~isnan(b) & ~less(b, a)), a, b)


def divide(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """``a / b``; by zero each part is divided by 0."""
    zero = tf.zeros((), a.dtype.real_dtype)
    by_zero = tf.complex(tf.math.real(a) / zero, tf.math.imag(a) / zero)
    return tf.where(tf.equal(b, constant(0, b)), by_zero, tf.raw_ops.RealDiv(x=a, y=b))


def power(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """``a ** b``, with ``0 ** 0 == 1``."""
    zero, one = constant(0, a), constant(1, a)
    of_zero = tf.equal(a, zero)
    result = tf.pow(tf.where(of_zero, one, a), b)
    return tf.where(tf.equal(b, zero), one, tf.where(of_zero, zero, result))


def scaled_log(base: float) -> Function:
    """Logarithm to another base."""
    return lambda z: tf.math.log(z) / constant(math.log(base), z)
