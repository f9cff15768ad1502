"""scipy.linalg over tensors: Cholesky and LU factors, and solving with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.scipy.kernels.declare import discard_unless, native, refusal
from np2tf.scipy.kernels.linalg.matrices import a_matrix, computable
from np2tf.scipy.versions import SCIPY
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._tensor.dtype_dispatch import gather_parts
from np2tf.tnp._tensor.reductions_of_axes import reduce_all, reduce_max, reduce_min
from np2tf.tnp.linalg.checks import epsilon

TRANSPOSE_CODES = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def columns_of(name: str, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the right-hand sides as the columns of a matrix.

    Raises:
        ValueError: their length differs from the number of rows of `a`.
        StagingError: there is a stack of right-hand sides.
    """
    if rank_of(b) not in (1, 2):
        raise refusal(f"{name} for a stack of right-hand sides")
    if b.shape[0] != a.shape[0]:
        raise ValueError(f"{name}: incompatible dimensions")
    return b[:, None] if rank_of(b) == 1 else b


def as_given(x: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the solutions as a vector if the right-hand side is a vector."""
    return x[:, 0] if rank_of(b) == 1 else x


def lu_factors(name: str, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the LU factors and the order of the rows.

    TensorFlow's factors have no gradient: `solve` and `inv` use them only to learn whether there is a
    solution.

    Raises:
        StagingError: the matrix is nearly singular, so that SciPy must decide.
    """
    factors, order = tf.linalg.lu(a)
    pivots = tf.abs(tf.linalg.diag_part(factors))
    limit = 10 * a.shape[-1] * epsilon(a)
    regular = reduce_min(pivots, -1) > tf.cast(limit, pivots.dtype) * reduce_max(pivots, -1)
    discard_unless(reduce_all(regular), f"{name} with a matrix that is nearly singular")
    return factors, order


def _solve_by_factors(factors: tf.Tensor, order: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    rows = gather_parts(right, order, 0)
    unit = tf.linalg.set_diag(factors, tf.ones_like(tf.linalg.diag_part(factors)))
    half = tf.linalg.triangular_solve(unit, rows, lower=True)
    return tf.linalg.triangular_solve(factors, half, lower=False)


def solve_triangle(matrix: tf.Tensor, right: tf.Tensor, trans: int, lower: bool) -> tf.Tensor:
    """Solve a system with a triangular matrix.

    Args:
        matrix: the triangular matrix, of shape (n, n).
        right: the right-hand sides, of shape (n, k).
        trans: 0 for the matrix itself, 1 for its transpose, 2 for its conjugate transpose.
        lower: whether the lower triangle counts.
    """
    if trans == 1 and matrix.dtype.is_complex:
        matrix = tf.math.conj(matrix)
    return tf.linalg.triangular_solve(matrix, right, lower=bool(lower), adjoint=trans != 0)


def cholesky_factor(name: str, a: tf.Tensor, lower: bool) -> tf.Tensor:
    """Return the triangular factor of a positive definite matrix, of which only the same triangle is read.

    Raises:
        StagingError: the matrix is not positive definite.
    """
    factor = tf.linalg.cholesky(a if lower else tf.linalg.adjoint(a))
    good = reduce_all(tf.math.is_finite(tf.abs(tf.linalg.diag_part(factor))))
    discard_unless(good, f"{name} of a matrix that is not positive definite")
    return factor if lower else tf.linalg.adjoint(factor)


def solve_by_cholesky(factor: tf.Tensor, right: tf.Tensor, lower: bool) -> tf.Tensor:
    """Solve a system whose matrix has a Cholesky factor.

    Args:
        factor: the factor, of shape (n, n).
        right: the right-hand sides, of shape (n, k).
        lower: whether the factor is the lower triangle.
    """
    half = tf.linalg.triangular_solve(factor, right, lower=bool(lower), adjoint=not lower)
    return tf.linalg.triangular_solve(factor, half, lower=bool(lower), adjoint=bool(lower))


@native("scipy.linalg.cholesky")
def cholesky(a: Array, lower: bool = False, check_finite: bool = True) -> tf.Tensor:
    """Return the upper or lower triangular factor of positive definite matrices.

    Args:
        a: array (..., n, n) of real or complex numbers.
        lower: whether to return the lower factor.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array (..., n, n) of floats or complex numbers.

    Raises:
        ValueError: the matrices are not square.
        StagingError: a matrix is not positive definite, or `a` is float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.cholesky.html.
    """
    a_matrix("cholesky", a, square=True, stacked=True)
    (matrices,) = computable("cholesky", a, finite=check_finite)
    return cholesky_factor("cholesky", matrices, lower)


@native("scipy.linalg.cho_factor")
def cho_factor(a: Array, lower: bool = False, check_finite: bool = True) -> tuple[tf.Tensor, bool]:
    """Return the Cholesky factor of a positive definite matrix, for `cho_solve`.

    As in SciPy, the other triangle keeps the elements of `a`, or is zero since SciPy 1.18.

    Args:
        a: array (n, n) of real or complex numbers.
        lower: whether to return the lower factor.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        The factor (n, n), and `lower`.

    Raises:
        ValueError: `a` is not a square matrix.
        StagingError: `a` is not positive definite, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.cho_factor.html.
    """
    a_matrix("cho_factor", a, square=True)
    (matrix,) = computable("cho_factor", a, finite=check_finite)
    factor = cholesky_factor("cho_factor", matrix, lower)
    if SCIPY >= (1, 18) and as_tensor(a).dtype == factor.dtype:  # but not of integers
        return factor, lower
    outer_triangle = matrix - tf.linalg.band_part(matrix, -1 if lower else 0, 0 if lower else -1)
    return factor + outer_triangle, lower


@native("scipy.linalg.cho_solve")
def cho_solve(c_and_lower: Any, b: Array, check_finite: bool = True) -> tf.Tensor:
    """Solve ``a @ x == b`` for x with the Cholesky factor of a.

    Args:
        c_and_lower: the pair that `cho_factor` returns.
        b: right-hand side (n,), or several as the columns of (n, k).
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array in the shape of `b`.

    Raises:
        ValueError: the factor is not square, or `b` does not fit.
        StagingError: the triangle is known only at run time, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.cho_solve.html.
    """
    c, lower = c_and_lower
    if not isinstance(lower, (bool, int, np.bool_)):
        raise refusal("cho_solve with a triangle that is known only at run time")
    factor = as_tensor(c)
    a_matrix("cho_solve", factor, square=True)
    factor, right = computable("cho_solve", factor, b, finite=check_finite)
    return as_given(solve_by_cholesky(factor, columns_of("cho_solve", factor, right), bool(lower)), b)


def _exchange(x: tf.Tensor, i: tf.Tensor, j: tf.Tensor) -> tf.Tensor:
    """Return a vector with two elements exchanged."""
    where = tf.range(tf.shape(x)[0])
    return tf.where(tf.equal(where, i), x[j], tf.where(tf.equal(where, j), x[i], x))


def _pivots_of(order: tf.Tensor) -> tf.Tensor:
    """Convert a permutation of rows to LAPACK's pivots: the rows to exchange, in order."""
    count = order.shape[0]

    def step(i: tf.Tensor, rows: tf.Tensor, pivots: tf.Tensor) -> tuple[tf.Tensor, ...]:
        j = tf.argmax(tf.cast(tf.equal(rows, order[i]), tf.int32), output_type=tf.int32)
        return i + 1, _exchange(rows, i, j), tf.where(tf.equal(tf.range(count), i), j, pivots)

    start = (tf.constant(0), tf.range(count), tf.zeros([count], tf.int32))
    return tf.while_loop(lambda i, rows, pivots: i < count, step, start)[2]


def _order_of(pivots: tf.Tensor) -> tf.Tensor:
    count = pivots.shape[0]

    def step(i: tf.Tensor, rows: tf.Tensor) -> tuple[tf.Tensor, ...]:
        return i + 1, _exchange(rows, i, pivots[i])

    return tf.while_loop(lambda i, rows: i < count, step, (tf.constant(0), tf.range(count)))[1]


@native("scipy.linalg.lu_factor")
def lu_factor(a: Array, check_finite: bool = True) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the LU decomposition of a square matrix, for `lu_solve`.

    Args:
        a: array (n, n) of real or complex numbers.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        Both triangular factors in one array (n, n), and the pivots (n,) of int32.

    Raises:
        ValueError: `a` is not a square matrix.
        StagingError: `a` is nearly singular, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.lu_factor.html.
    """
    a_matrix("lu_factor", a, square=True)
    factors, order = lu_factors("lu_factor", *computable("lu_factor", a, finite=check_finite))
    return factors, _pivots_of(order)


@native("scipy.linalg.lu_solve")
def lu_solve(lu_and_piv: Any, b: Array, trans: Any = 0, check_finite: bool = True) -> tf.Tensor:
    """Solve ``a @ x == b`` for x with the factors that `lu_factor` returns for a.

    Args:
        lu_and_piv: the pair that `lu_factor` returns.
        b: right-hand side (n,), or several as the columns of (n, k).
        trans: 0 for a, 1 for its transpose, 2 for its adjoint.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array in the shape of `b`.

    Raises:
        ValueError: the factors are not square, or `b` does not fit.
        StagingError: only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.lu_solve.html.
    """
    factors, pivots = (as_tensor(array) for array in lu_and_piv)
    a_matrix("lu_solve", factors, square=True)
    factors, right = computable("lu_solve", factors, b, finite=check_finite)
    right = columns_of("lu_solve", factors, right)
    order, trans = _order_of(tf.cast(pivots, tf.int32)), TRANSPOSE_CODES[trans]
    if not trans:
        return as_given(_solve_by_factors(factors, order, right), b)
    unit = tf.linalg.set_diag(factors, tf.ones_like(tf.linalg.diag_part(factors)))
    solution = solve_triangle(unit, solve_triangle(factors, right, trans, False), trans, True)
    return as_given(gather_parts(solution, tf.math.invert_permutation(order), 0), b)
