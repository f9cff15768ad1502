"""Systems of linear equations and determinants: by TensorFlow's kernels, or in a few operations under XLA.

XLA's own functions raise no error for a singular matrix, and XLA has no determinant. For small matrices, as
in the loops of filters, this module computes LU factors with partial pivoting as LAPACK does. If the last
digit decides whether a matrix is singular, the call is discarded, and NumPy decides.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.storage import staging_for_xla
from np2tf.tnp.linalg.checks import discard_if_nearly_singular, discard_if_small

#: A matrix with at most so many rows is small.
ROWS = 8


def solve_systems(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Solve ``a @ x == b`` for x, for stacks of square matrices (..., n, n) and of columns (..., n, k)."""
    if not _is_small(a):
        discard_if_nearly_singular(a)
        return tf.linalg.solve(a, b)
    rows = a.shape[-1]
    factors, _ = _eliminate(tf.concat([a, b], -1), rows)
    discard_if_small(tf.linalg.diag_part(factors[..., :rows]))
    left = factors[..., rows:]
    solution_rows: list[tf.Tensor] = []
    for k in reversed(range(rows)):
        row = left[..., k : k + 1, :] / factors[..., k : k + 1, k : k + 1]
        solution_rows.insert(0, row)
        left = left[..., :k, :] - factors[..., :k, k : k + 1] * row
    return tf.concat(solution_rows, -2)


def invert(a: tf.Tensor) -> tf.Tensor:
    """Return the inverses of square matrices (..., n, n)."""
    if _is_small(a):
        return solve_systems(a, tf.broadcast_to(tf.eye(a.shape[-1], dtype=a.dtype), tf.shape(a)))
    discard_if_nearly_singular(a)
    return tf.linalg.inv(a)


def determinant(a: tf.Tensor) -> tf.Tensor:
    """Return the determinants (...) of square matrices (..., n, n)."""
    if not _is_small(a):
        return _complex_determinant(a) if a.dtype.is_complex else tf.linalg.det(a)
    pivots, sign = _pivots(a)
    return _drop_minus_zero(sign * tf.reduce_prod(pivots, -1))


def sign_and_log_determinant(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the signs of determinants, 0 for singular matrices, and the logarithms of their sizes."""
    if not _is_small(a):
        if a.dtype.is_complex:
            sign, logarithm = _complex_sign_and_log(a)
        else:
            sign, logarithm = tf.linalg.slogdet(a)
        return sign, tf.math.real(logarithm)
    pivots, sign = _pivots(a)
    sign = _drop_minus_zero(sign * tf.reduce_prod(tf.sign(pivots), -1))
    return sign, tf.reduce_sum(tf.math.log(tf.abs(pivots)), -1)


@tf.custom_gradient
def _complex_determinant(a: tf.Tensor) -> Any:
    """Return the determinants of complex matrices, whose gradient TensorFlow takes without a conjugate."""
    result = tf.linalg.det(a)

    def gradient(upstream: tf.Tensor) -> tf.Tensor:
        # (The operation itself is asked again, so that its own gradient is right, too.)
        return (upstream * tf.math.conj(_complex_determinant(a)))[..., None, None] * _inverse_adjoint(a)

    return result, gradient


@tf.custom_gradient
def _complex_sign_and_log(a: tf.Tensor) -> Any:
    """Return the signs and logarithms of complex determinants; TensorFlow has no gradient of the signs."""
    result = tf.linalg.slogdet(a)

    def gradient(of_sign: tf.Tensor, of_logarithm: tf.Tensor) -> tf.Tensor:
        sign = _complex_sign_and_log(a)[0]
        imaginary_part = tf.math.imag(of_sign * tf.math.conj(sign))
        cotangent = tf.complex(tf.math.real(of_logarithm), imaginary_part)
        return cotangent[..., None, None] * _inverse_adjoint(a)

    return result, gradient


def _inverse_adjoint(a: tf.Tensor) -> tf.Tensor:
    return tf.linalg.inv(a, adjoint=True)


def _is_small(a: tf.Tensor) -> bool:
    """Return whether to compute with matrices in a few operations: they are small, and code is staged for
    XLA.
    """
    rows = a.shape[-1]
    return staging_for_xla() and rows is not None and 0 < rows <= ROWS and a.shape[-2] == rows


def _pivots(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the pivots of matrices, and the sign of the permutation of their rows."""
    factors, sign = _eliminate(a, a.shape[-1])
    return tf.linalg.diag_part(factors), sign


def _drop_minus_zero(x: tf.Tensor) -> tf.Tensor:
    """Return x with 0 in the place of -0."""
    return tf.where(tf.equal(x, 0), tf.zeros_like(x), x)


def _eliminate(a: tf.Tensor, rows: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Return `a` with its first columns made upper triangular, and the sign of the row permutation."""
    pivots: list[tf.Tensor] = []
    sign: Any = tf.ones(tf.shape(a)[:-2], a.dtype)
    for k in range(rows - 1):
        pivot_index = tf.argmax(_magnitude(a[..., k]), -1)
        is_pivot = tf.one_hot(pivot_index, rows - k, True, False, dtype=tf.bool)[..., None]
        pivot = tf.reduce_sum(tf.where(is_pivot, a, tf.zeros((), a.dtype)), -2, keepdims=True)
        below = tf.where(is_pivot, a[..., :1, :], a)[..., 1:, :]
        sign = tf.where(pivot_index > 0, -sign, sign)
        # If the pivot is 0, all elements below it are 0, too.
        divisor = pivot[..., k : k + 1]
        factor = below[..., k : k + 1] / tf.where(tf.equal(divisor, 0), tf.ones_like(divisor), divisor)
        a = below - factor * pivot
        pivots.append(pivot)
    return tf.concat([*pivots, a], -2), sign


def _magnitude(column: tf.Tensor) -> tf.Tensor:
    """Return the sizes that LAPACK compares to choose a pivot."""
    if column.dtype.is_complex:
        return tf.abs(tf.math.real(column)) + tf.abs(tf.math.imag(column))
    return tf.abs(column)
