"""Systems of equations, inverses and determinants, by TensorFlow's kernels or in a few operations
under XLA.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import SlogdetResult

from np2tf.arrays.dispatch.op import Array, Int, op
from np2tf.arrays.functions.linalg.checks import (
    as_floating,
    discard_if_nearly_singular,
    discard_if_small,
    epsilon,
    matrix,
    real_dtype,
    require_square,
    scale_by,
    square,
)
from np2tf.arrays.functions.linalg.factorizations import svd_of
from np2tf.arrays.functions.ufuncs.matrix import matmul
from np2tf.arrays.operands.axes import lengths_of, rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.tensors import batches
from np2tf.arrays.tensors.axis_reductions import reduce_any, reduce_max, reduce_prod, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import needs_derivatives
from np2tf.arrays.tensors.storage import staging_for_xla

__all__ = [
    "det",
    "inv",
    "lstsq",
    "matrix_power",
    "pinv",
    "slogdet",
    "solve",
    "tensorinv",
    "tensorsolve",
]


# -- systems -------------------------------------------------------------------------------------------------
# Systems of linear equations: by TensorFlow's kernels, or in a few operations under XLA.
#
# XLA's own functions raise no error for a singular matrix. For small matrices, as in the loops of filters,
# this module computes LU factors with partial pivoting as LAPACK does. If the last digit decides whether a
# matrix is singular, the call is discarded, and NumPy decides.

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


# -- determinants --------------------------------------------------------------------------------------------
# Determinants: by TensorFlow's kernels, or under XLA, which has none, from the pivots of small matrices.


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


# -- solving -------------------------------------------------------------------------------------------------
# Systems of equations, inverses and determinants.


@op(np.linalg.inv)
def inv(a: Array) -> tf.Tensor:
    """Return the inverses of square matrices."""
    return invert(square(a))


@op(np.linalg.det)
def det(a: Array) -> tf.Tensor:
    """Return the determinants of square matrices."""
    return determinant(square(a))


@op(np.linalg.slogdet)
def slogdet(a: Array) -> SlogdetResult:
    """Return the signs of determinants, and the logarithms of their absolute values."""
    sign, logarithm = sign_and_log_determinant(square(a))
    # A singular matrix has the sign 0, not -0.
    return SlogdetResult(sign + tf.zeros((), sign.dtype), logarithm)


def _broadcast_stacks(a: tf.Tensor, b: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return two stacks of matrices with their leading axes broadcast against each other."""
    if a.shape[:-2] == b.shape[:-2] and a.shape[:-2].is_fully_defined():
        return a, b
    try:
        stack_shape: Any = tf.broadcast_static_shape(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            "operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{tuple(a.shape)} {tuple(b.shape)}"
        ) from None
    if not stack_shape.is_fully_defined():
        stack_shape = tf.broadcast_dynamic_shape(tf.shape(a)[:-2], tf.shape(b)[:-2])
    return (
        tf.broadcast_to(a, tf.concat([stack_shape, tf.shape(a)[-2:]], 0)),
        tf.broadcast_to(b, tf.concat([stack_shape, tf.shape(b)[-2:]], 0)),
    )


@op(np.linalg.solve)
def solve(a: Array, b: Array) -> tf.Tensor:
    """Solve ``a @ x == b`` for x."""
    require_square(a)
    a, b = as_floating(a, b)
    vector = rank_of(b) == 1
    right = b[:, None] if vector else b
    if rank_of(right) < 2 or (None not in (a.shape[-1], right.shape[-2]) and a.shape[-1] != right.shape[-2]):
        raise ValueError(
            "solve: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(m,m),(m,n)->(m,n) (size {right.shape[-2] if rank_of(right) > 1 else 0} "
            f"is different from {a.shape[-1]})"
        )
    solution = solve_systems(*_broadcast_stacks(a, right))
    return solution[..., 0] if vector else solution


def pseudo_inverse(a: tf.Tensor, cutoff: tf.Tensor) -> tf.Tensor:
    """Return pseudo-inverses, made of the singular values above `cutoff` times the largest value."""
    left, values, right = svd_of(a, full_matrices=False)
    large = values > cutoff[..., None] * reduce_max(values, axis=-1, keepdims=True)
    inverse = tf.where(large, 1 / tf.where(large, values, tf.ones_like(values)), tf.zeros_like(values))
    return matmul(tf.linalg.adjoint(right), scale_by(tf.linalg.adjoint(left), inverse[..., None]))


@op(np.linalg.pinv)
def pinv(a: Array, rcond: Any = None, hermitian: bool = False, *, rtol: Any = np._NoValue) -> tf.Tensor:  # type: ignore[attr-defined]
    """Return the Moore-Penrose inverses of matrices."""
    if rcond is not None and rtol is not np._NoValue:  # type: ignore[attr-defined]
        raise ValueError("`rtol` and `rcond` can't be both set.")
    source_dtype = a.dtype
    a = square(a) if hermitian else matrix(a)
    if rcond is None:
        rcond = rtol
    if rcond is np._NoValue:  # type: ignore[attr-defined]
        rcond = 1e-15
    rows, columns = lengths_of(a, [rank_of(a) - 2, rank_of(a) - 1])
    if rcond is None:
        rcond = max(rows, columns) * epsilon(a)
    if isinstance(rows, int) and isinstance(columns, int) and 0 in (rows, columns):
        return tf.zeros([*lengths_of(a, range(rank_of(a) - 2)), columns, rows], source_dtype)
    return pseudo_inverse(a, as_tensor(rcond, real_dtype(a).as_numpy_dtype))


def least_squares(a: tf.Tensor, b: tf.Tensor, relative: Any) -> tuple[tf.Tensor, ...]:
    """Return the solution of a linear least-squares problem by singular values, the residuals, the rank, and
    the singular values. Those below `relative` times the largest count as 0; a negative number stands for the
    precision of the dtype.
    """
    left, values, adjoint = svd_of(a, full_matrices=False)
    cutoff = as_tensor(relative, real_dtype(a).as_numpy_dtype)
    cutoff = tf.where(cutoff < 0, tf.constant(epsilon(a), cutoff.dtype), cutoff)
    large = values > cutoff * reduce_max(values)
    inverse = tf.where(large, 1 / tf.where(large, values, tf.ones_like(values)), tf.zeros_like(values))
    solution = matmul(
        tf.linalg.adjoint(adjoint), scale_by(matmul(tf.linalg.adjoint(left), b), inverse[:, None])
    )
    rank = reduce_sum(tf.cast(large, tf.int32))
    return solution, _residuals(a, b, solution, rank), rank, values


@op(np.linalg.lstsq)
def lstsq(a: Array, b: Array, rcond: Any = None) -> tuple[Any, ...]:
    """Solve a linear least-squares problem."""
    vector = rank_of(b) == 1
    if rank_of(a) != 2:
        raise LinAlgError(f"{rank_of(a)}-dimensional array given. Array must be two-dimensional")
    if rank_of(b) not in (1, 2):
        raise LinAlgError(f"{rank_of(b)}-dimensional array given. Array must be two-dimensional")
    a, b = as_floating(a, b)
    right = b[:, None] if vector else b
    rows, columns = lengths_of(a, [0, 1])
    if isinstance(rows, int) and right.shape[0] is not None and rows != right.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    relative = max(rows, columns) * epsilon(a) if rcond is None else rcond
    # NumPy computes in double precision for all dtypes.
    wide = np.complex128 if a.dtype.is_complex else np.float64
    solution, residuals, rank, values = least_squares(cast(a, wide), cast(right, wide), relative)
    solution = cast(solution, a.dtype.as_numpy_dtype)
    residuals, values = (cast(value, real_dtype(a).as_numpy_dtype) for value in (residuals, values))
    return solution[:, 0] if vector else solution, residuals, rank, values


def _residuals(a: tf.Tensor, b: tf.Tensor, solution: tf.Tensor, rank: tf.Tensor) -> tf.Tensor:
    """Return the sums of squared residuals; none if the system is not overdetermined or does not have full
    rank.
    """
    rows, columns = a.shape[0], a.shape[1]
    if rows is not None and columns is not None and rows <= columns:
        return tf.zeros([0], real_dtype(a))
    sums = reduce_sum(tf.square(tf.abs(b - matmul(a, solution))), axis=0)
    full = rank == tf.shape(a)[1]
    if rows is None or columns is None:
        full &= tf.shape(a)[0] > tf.shape(a)[1]
    return sums[: tf.where(full, tf.shape(sums)[0], 0)]


@op(np.linalg.matrix_power)
def matrix_power(a: Array, n: Int) -> tf.Tensor:
    """Return powers of square matrices, by repeated squaring."""
    require_square(a)
    if n == 0:
        eye = tf.eye(tf.shape(a)[-1], batch_shape=tf.shape(a)[:-2], dtype=tf.float64)
        return tf.ensure_shape(tf.cast(eye, a.dtype), a.shape)
    if n < 0:
        a, n = invert(square(a)), -n
    result = None
    while n:
        n, odd = divmod(n, 2)
        if odd:
            result = a if result is None else matmul(result, a)
        if n:
            a = matmul(a, a)
    return result


@op(np.linalg.tensorinv)
def tensorinv(a: Array, ind: Int = 2) -> tf.Tensor:
    """Return the inverse of an array with respect to tensordot over `ind` axes."""
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = a.shape.as_list()
    inverse_shape = [*shape[ind:], *shape[:ind]]
    return tf.reshape(invert(square(tf.reshape(a, [math.prod(shape[:ind]), -1]))), inverse_shape)


@op(np.linalg.tensorsolve)
def tensorsolve(a: Array, b: Array, axes: Any = None) -> tf.Tensor:
    """Solve ``tensordot(a, x, x.ndim) == b`` for x."""
    if axes is not None:
        order = [k for k in range(rank_of(a)) if k not in axes]
        a = tf.transpose(a, [*order, *axes])
    shape = a.shape.as_list()[rank_of(b) :]
    size = math.prod(shape)
    if math.prod(a.shape.as_list()[: rank_of(b)]) != size:
        raise LinAlgError(
            "Input arrays must satisfy the requirement             "
            "prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    a, b = as_floating(tf.reshape(a, [size, size]), tf.reshape(b, [-1, 1]))
    return tf.reshape(solve_systems(a, b), shape)
