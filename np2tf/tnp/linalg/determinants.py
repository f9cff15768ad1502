"""Determinants: by TensorFlow's kernels, or under XLA, which has none, from the pivots of small matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._tensor import batches
from np2tf.tnp._tensor.dtype_dispatch import needs_derivatives
from np2tf.tnp._tensor.reductions_of_axes import reduce_any, reduce_prod, reduce_sum
from np2tf.tnp.linalg.systems import ROWS, eliminate, is_small


def determinant(a: tf.Tensor) -> tf.Tensor:
    """Return the determinants (...) of square matrices (..., n, n)."""
    return _determinant(a) if needs_derivatives() else _value(a)


def _value(a: tf.Tensor) -> tf.Tensor:
    if not is_small(a):
        return tf.linalg.det(a)
    pivots, sign = _pivots(a)
    return _drop_minus_zero(sign * reduce_prod(pivots, -1))


@tf.custom_gradient
def _determinant(a: tf.Tensor) -> Any:
    """Return determinants whose derivatives are the cofactors, so that a singular matrix has them, too."""
    return _value(a), lambda upstream: upstream[..., None, None] * tf.math.conj(_cofactors(a))


def _cofactors(a: tf.Tensor) -> tf.Tensor:
    """Return the cofactors (..., n, n) of square matrices."""
    rows = a.shape[-1]
    if rows is not None and 0 < rows <= ROWS and a.shape[-2] == rows:
        return _signed_minors(a, rows)
    values = _determinant(a)
    is_singular = reduce_any(tf.equal(values, tf.zeros((), a.dtype)))
    inverse = lambda: values[..., None, None] * tf.linalg.matrix_transpose(tf.linalg.inv(a))  # noqa: E731
    return tf.cond(is_singular, lambda: _cofactors_by_svd(a), inverse)


def _signed_minors(a: tf.Tensor, rows: int) -> tf.Tensor:
    if rows == 1:
        return tf.ones_like(a)
    kept_rows = np.array([[k for k in range(rows) if k != place] for place in range(rows)])
    places = rows * kept_rows[:, None, :, None] + kept_rows[None, :, None, :]
    elements = tf.reshape(a, tf.concat([tf.shape(a)[:-2], [rows * rows]], 0))
    signs = tf.constant((-1.0) ** np.add.outer(np.arange(rows), np.arange(rows)), a.dtype)
    return signs * _determinant(tf.gather(elements, places, axis=-1))


@tf.custom_gradient
def _cofactors_by_svd(a: tf.Tensor) -> Any:
    """Return cofactors whose derivatives are NaN: singular vectors of equal singular values have none."""
    sizes, u, v = batches.svd(a)
    products = tf.math.cumprod(sizes, -1, exclusive=True)
    products *= tf.math.cumprod(sizes, -1, exclusive=True, reverse=True)
    sign = tf.linalg.det(u) * tf.math.conj(tf.linalg.det(v))
    left = tf.cast(products, a.dtype)[..., None, :] * tf.math.conj(u)
    result = sign[..., None, None] * tf.matmul(left, v, transpose_b=True)
    return result, lambda upstream: upstream * tf.constant(math.nan, a.dtype)


def sign_and_log_determinant(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the signs of determinants, 0 for singular matrices, and the logarithms of their sizes."""
    if not is_small(a):
        if a.dtype.is_complex:
            sign, logarithm = _complex_sign_and_log(a)
        else:
            sign, logarithm = tf.linalg.slogdet(a)
        return sign, tf.math.real(logarithm)
    pivots, sign = _pivots(a)
    sign = _drop_minus_zero(sign * reduce_prod(tf.sign(pivots), -1))
    return sign, reduce_sum(tf.math.log(tf.abs(pivots)), -1)


@tf.custom_gradient
def _complex_sign_and_log(a: tf.Tensor) -> Any:
    """Return the signs and logarithms of complex determinants; TensorFlow has no gradient of the signs."""
    result = tf.linalg.slogdet(a)

    def gradient(of_sign: tf.Tensor, of_logarithm: tf.Tensor) -> tf.Tensor:
        sign = _complex_sign_and_log(a)[0]
        imaginary_part = tf.math.imag(of_sign * tf.math.conj(sign))
        cotangent = tf.complex(tf.math.real(of_logarithm), imaginary_part)
        return cotangent[..., None, None] * tf.linalg.inv(a, adjoint=True)

    return result, gradient


def _pivots(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the pivots of matrices, and the sign of the permutation of their rows."""
    factors, sign = eliminate(a, a.shape[-1])
    return tf.linalg.diag_part(factors), sign


def _drop_minus_zero(x: tf.Tensor) -> tf.Tensor:
    """Return x with 0 in the place of -0."""
    return tf.where(tf.equal(x, 0), tf.zeros_like(x), x)
