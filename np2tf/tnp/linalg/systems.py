"""Systems of linear equations: by TensorFlow's kernels, or in a few operations under XLA.

XLA's own functions raise no error for a singular matrix. For small matrices, as in the loops of filters, this
module computes LU factors with partial pivoting as LAPACK does. If the last digit decides whether a matrix is
singular, the call is discarded, and NumPy decides.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.reductions_of_axes import reduce_sum
from np2tf.tnp._tensor.storage import staging_for_xla
from np2tf.tnp.linalg.checks import discard_if_nearly_singular, discard_if_small

#: A matrix with at most so many rows is small.
ROWS = 8


def solve_systems(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Solve ``a @ x == b`` for x, for stacks of square matrices (..., n, n) and of columns (..., n, k)."""
    if not is_small(a):
        discard_if_nearly_singular(a)
        return tf.linalg.solve(a, b)
    rows = a.shape[-1]
    factors, _ = eliminate(tf.concat([a, b], -1), rows)
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
    if is_small(a):
        return solve_systems(a, tf.broadcast_to(tf.eye(a.shape[-1], dtype=a.dtype), tf.shape(a)))
    discard_if_nearly_singular(a)
    return tf.linalg.inv(a)


def is_small(a: tf.Tensor) -> bool:
    """Return whether to compute with matrices in a few operations: they are small, and code is staged for
    XLA.
    """
    rows = a.shape[-1]
    return staging_for_xla() and rows is not None and 0 < rows <= ROWS and a.shape[-2] == rows


def eliminate(a: tf.Tensor, rows: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Return `a` with its first columns made upper triangular, and the sign of the row permutation."""
    pivots: list[tf.Tensor] = []
    sign: Any = tf.ones(tf.shape(a)[:-2], a.dtype)
    for k in range(rows - 1):
        pivot_index = tf.argmax(_magnitude(a[..., k]), -1)
        is_pivot = tf.one_hot(pivot_index, rows - k, True, False, dtype=tf.bool)[..., None]
        pivot = reduce_sum(tf.where(is_pivot, a, tf.zeros((), a.dtype)), -2, keepdims=True)
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
