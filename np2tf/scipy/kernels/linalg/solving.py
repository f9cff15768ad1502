"""Systems of equations, inverses and determinants, by triangular factors."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.scipy.kernels.declare import discard_unless, native, refusal
from np2tf.scipy.kernels.linalg.factors import (
    TRANSPOSE_CODES,
    as_given,
    cholesky_factor,
    columns_of,
    lu_factors,
    solve_by_cholesky,
    solve_triangle,
)
from np2tf.scipy.kernels.linalg.matrices import a_matrix, computable
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._tensor import batches
from np2tf.tnp._tensor.reductions_of_axes import reduce_all, reduce_max, reduce_sum
from np2tf.tnp.linalg.checks import epsilon
from np2tf.tnp.linalg.determinants import determinant
from np2tf.tnp.linalg.factoring import svd_of
from np2tf.tnp.linalg.solving import least_squares


def _system(name: str, a: Array, b: Array, finite: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a square matrix (n, n), and the right-hand sides as the columns of a matrix (n, k)."""
    a_matrix(name, a, square=True)
    matrix, right = computable(name, a, b, finite=finite)
    return matrix, columns_of(name, matrix, right)


@native("scipy.linalg.solve")
def solve(
    a: Array,
    b: Array,
    lower: bool = False,
    check_finite: bool = True,
    assume_a: Any = None,
    transposed: bool = False,
) -> tf.Tensor:
    """Solve ``a @ x == b`` for x.

    Args:
        a: array (n, n) of real or complex numbers.
        b: right-hand side (n,), or several as the columns of (n, k).
        lower: which triangle a positive definite `a` is read from.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.
        assume_a: "gen" or None for a general matrix, "pos" for a positive definite matrix.
        transposed: whether to solve with the transpose of `a`.

    Returns:
        An array in the shape of `b`.

    Raises:
        ValueError: `a` is not square, or `b` does not fit.
        StagingError: `a` is nearly singular, or only SciPy handles the case.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.solve.html.
    """
    first, right = _system("solve", a, b, check_finite)
    if assume_a in ("pos", "positive definite") and not transposed:
        return as_given(solve_by_cholesky(cholesky_factor("solve", first, lower), right, lower), b)
    if assume_a not in (None, "gen", "general"):
        raise refusal(f"solve with assume_a={assume_a!r}")
    if transposed:
        if first.dtype.is_complex:
            raise refusal("solve with a transposed complex matrix")
        first = tf.linalg.matrix_transpose(first)
    lu_factors("solve", first)
    return as_given(tf.linalg.solve(first, right), b)


@native("scipy.linalg.inv")
def inv(a: Array, check_finite: bool = True) -> tf.Tensor:
    """Return the inverses of square matrices.

    Args:
        a: array (..., n, n) of real or complex numbers.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array (..., n, n) of floats or complex numbers.

    Raises:
        ValueError: the matrices are not square.
        StagingError: a matrix is nearly singular, or `a` is float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.inv.html.
    """
    a_matrix("inv", a, square=True, stacked=True)
    (matrices,) = computable("inv", a, finite=check_finite)
    lu_factors("inv", matrices)
    return tf.linalg.inv(matrices)


@native("scipy.linalg.det")
def det(a: Array, check_finite: bool = True) -> tf.Tensor:
    """Return the determinants of square matrices, computed in double precision.

    Args:
        a: array (..., n, n) of real or complex numbers.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array (...,) of float64 or complex128.

    Raises:
        ValueError: the matrices are not square.
        StagingError: `a` is float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.det.html.
    """
    a_matrix("det", a, square=True, stacked=True)
    (matrices,) = computable("det", a, finite=check_finite)
    return determinant(tf.cast(matrices, tf.complex128 if matrices.dtype.is_complex else tf.float64))


@native("scipy.linalg.solve_triangular")
def solve_triangular(
    a: Array,
    b: Array,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    check_finite: bool = True,
) -> tf.Tensor:
    """Solve ``a @ x == b`` for x with a triangular matrix.

    Args:
        a: array (n, n) of real or complex numbers.
        b: right-hand side (n,), or several as the columns of (n, k).
        trans: 0 or "N" for `a`, 1 or "T" for its transpose, 2 or "C" for its adjoint.
        lower: whether `a` is lower triangular.
        unit_diagonal: whether the diagonal counts as ones.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array in the shape of `b`.

    Raises:
        ValueError: `a` is not square, or `b` does not fit.
        StagingError: `a` is singular, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.solve_triangular.html.
    """
    matrix, right = _system("solve_triangular", a, b, check_finite)
    diagonal = tf.linalg.diag_part(matrix)
    if unit_diagonal:
        matrix = tf.linalg.set_diag(matrix, tf.ones_like(diagonal))
    else:
        discard_unless(
            reduce_all(tf.not_equal(diagonal, tf.zeros_like(diagonal))),
            "solve_triangular of a singular matrix",
        )
    return as_given(solve_triangle(matrix, right, TRANSPOSE_CODES[trans], lower), b)


# -- Cholesky ------------------------------------------------------------------------------------------------


# -- LU ------------------------------------------------------------------------------------------------------


# -- least squares -------------------------------------------------------------------------------------------


@native("scipy.linalg.lstsq")
def lstsq(a: Array, b: Array, cond: Any = None, check_finite: bool = True) -> tuple[Any, ...]:
    """Solve a linear least-squares problem.

    Args:
        a: array (m, n) of real or complex numbers, with m >= n.
        b: right-hand side (m,), or several as the columns of (m, k).
        cond: singular values below `cond` times the largest count as 0; None is the precision of the dtype.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        The solution (n,) or (n, k), the sums of squared residuals (empty if m == n), the rank, and the
        singular values (n,).

    Raises:
        ValueError: `a` is not a matrix, or `b` does not fit.
        StagingError: there are fewer equations than unknowns, `a` does not have full rank, or only SciPy
            handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.lstsq.html.
    """
    a_matrix("lstsq", a)
    first, right = computable("lstsq", a, b, finite=check_finite)
    columns = columns_of("lstsq", first, right)
    if first.shape[0] < first.shape[1]:
        raise refusal("lstsq of fewer equations than unknowns")
    relative = epsilon(first) if cond is None else cond
    solution, _, rank, values = least_squares(first, columns, relative)
    discard_unless(tf.equal(rank, first.shape[1]), "lstsq of a matrix that has not full rank")
    misfit = reduce_sum(tf.square(tf.abs(columns - tf.matmul(first, solution))), axis=0)
    if first.shape[0] == first.shape[1]:
        return as_given(solution, b), tf.zeros([0], misfit.dtype), tf.cast(rank, tf.int64), values
    return as_given(solution, b), misfit[0] if rank_of(b) == 1 else misfit, tf.cast(rank, tf.int64), values


@native("scipy.linalg.pinv")
def pinv(a: Array, *, atol: Any = None, rtol: Any = None, check_finite: bool = True) -> tf.Tensor:
    """Return the Moore-Penrose inverse of a matrix.

    Args:
        a: array (m, n) of real or complex numbers.
        atol: the absolute tolerance; None is 0.
        rtol: the relative tolerance; None is the precision of the dtype times max(m, n). Singular values up
            to `atol` plus `rtol` times the largest count as 0.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array (n, m) of floats or complex numbers.

    Raises:
        ValueError: `a` is not a matrix.
        StagingError: a tolerance is negative, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.pinv.html.
    """
    a_matrix("pinv", a)
    (matrix,) = computable("pinv", a, finite=check_finite)
    left, values, right = svd_of(matrix, full_matrices=False)
    return tf.linalg.adjoint(tf.matmul(left * _inverses(matrix, values, atol, rtol), right))


def _inverses(a: tf.Tensor, values: tf.Tensor, atol: Any, rtol: Any) -> tf.Tensor:
    """Return the inverses of singular values or eigenvalues; values within the tolerances of 0 give 0."""
    rtol = max(a.shape) * epsilon(a) if rtol is None else rtol
    absolute, relative = (
        as_tensor(0.0 if tolerance is None else tolerance, values.dtype.as_numpy_dtype)
        for tolerance in (atol, rtol)
    )
    discard_unless((absolute >= 0) & (relative >= 0), "pinv with negative tolerances")
    sizes = tf.abs(values)
    large = sizes > absolute + reduce_max(sizes) * relative
    inverses = tf.where(large, 1 / tf.where(large, values, tf.ones_like(values)), tf.zeros_like(values))
    return cast(inverses, a.dtype.as_numpy_dtype)


@native("scipy.linalg.pinvh")
def pinvh(
    a: Array, atol: Any = None, rtol: Any = None, lower: bool = True, check_finite: bool = True
) -> tf.Tensor:
    """Return the pseudo-inverse of a Hermitian matrix.

    Args:
        a: array (n, n) of real or complex numbers.
        atol: the absolute tolerance; None is 0.
        rtol: the relative tolerance, times the largest absolute eigenvalue; None is n times the precision.
        lower: whether to read the lower triangle of `a`, and not the upper triangle.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array (n, n) of floats or complex numbers.

    Raises:
        ValueError: `a` is not a square matrix.
        StagingError: a tolerance is negative, or only SciPy handles the dtype or shape.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.pinvh.html.
    """
    a_matrix("pinvh", a, square=True)
    (matrix,) = computable("pinvh", a, finite=check_finite)
    values, vectors = batches.eigh(matrix if lower else tf.linalg.adjoint(matrix))
    inverses = _inverses(matrix, tf.math.real(values), atol, rtol)
    return tf.matmul(vectors * inverses, vectors, adjoint_b=True)
