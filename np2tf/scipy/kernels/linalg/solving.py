"""Systems of equations, inverses and determinants, by triangular factors."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.scipy.kernels.declare import discard_unless, native, refusal
from np2tf.scipy.kernels.linalg.matrices import a_matrix, computable
from np2tf.scipy.versions import SCIPY
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._tensor.dtype_dispatch import gather_parts
from np2tf.tnp.linalg.checks import epsilon
from np2tf.tnp.linalg.factoring import svd_of
from np2tf.tnp.linalg.solving import least_squares
from np2tf.tnp.linalg.systems import determinant

_TRANSPOSED = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _columns(name: str, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
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


def _as_given(x: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    return x[:, 0] if rank_of(b) == 1 else x


def _factors(name: str, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the LU factors and the order of the rows.

    TensorFlow's factors have no gradient: `solve` and `inv` use them only to learn whether there is a
    solution.

    Raises:
        StagingError: the matrix is nearly singular, so that SciPy must decide.
    """
    factors, order = tf.linalg.lu(a)
    pivots = tf.abs(tf.linalg.diag_part(factors))
    limit = 10 * a.shape[-1] * epsilon(a)
    regular = tf.reduce_min(pivots, -1) > tf.cast(limit, pivots.dtype) * tf.reduce_max(pivots, -1)
    discard_unless(tf.reduce_all(regular), f"{name} with a matrix that is nearly singular")
    return factors, order


def _solve_by_factors(factors: tf.Tensor, order: tf.Tensor, right: tf.Tensor) -> tf.Tensor:
    shuffled = gather_parts(right, order, 0)
    unit = tf.linalg.set_diag(factors, tf.ones_like(tf.linalg.diag_part(factors)))
    half = tf.linalg.triangular_solve(unit, shuffled, lower=True)
    return tf.linalg.triangular_solve(factors, half, lower=False)


def _system(name: str, a: Array, b: Array, finite: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a square matrix (n, n), and the right-hand sides as the columns of a matrix (n, k)."""
    a_matrix(name, a, square=True)
    matrix, right = computable(name, a, b, finite=finite)
    return matrix, _columns(name, matrix, right)


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
        return _as_given(_solve_by_cholesky(_cholesky("solve", first, lower), right, lower), b)
    if assume_a not in (None, "gen", "general"):
        raise refusal(f"solve with assume_a={assume_a!r}")
    if transposed:
        if first.dtype.is_complex:
            raise refusal("solve with a transposed complex matrix")
        first = tf.linalg.matrix_transpose(first)
    _factors("solve", first)
    return _as_given(tf.linalg.solve(first, right), b)


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
    (given,) = computable("inv", a, finite=check_finite)
    _factors("inv", given)
    return tf.linalg.inv(given)


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
    (given,) = computable("det", a, finite=check_finite)
    return determinant(tf.cast(given, tf.complex128 if given.dtype.is_complex else tf.float64))


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
            tf.reduce_all(tf.not_equal(diagonal, tf.zeros_like(diagonal))),
            "solve_triangular of a singular matrix",
        )
    return _as_given(_triangular(matrix, right, _TRANSPOSED[trans], lower), b)


def _triangular(matrix: tf.Tensor, right: tf.Tensor, trans: int, lower: bool) -> tf.Tensor:
    if trans == 1 and matrix.dtype.is_complex:
        matrix = tf.math.conj(matrix)
    return tf.linalg.triangular_solve(matrix, right, lower=bool(lower), adjoint=trans != 0)


# -- Cholesky ------------------------------------------------------------------------------------------------


def _cholesky(name: str, a: tf.Tensor, lower: bool) -> tf.Tensor:
    """Return the triangular factor of a positive definite matrix, of which only the same triangle is read.

    Raises:
        StagingError: the matrix is not positive definite.
    """
    factor = tf.linalg.cholesky(a if lower else tf.linalg.adjoint(a))
    good = tf.reduce_all(tf.math.is_finite(tf.abs(tf.linalg.diag_part(factor))))
    discard_unless(good, f"{name} of a matrix that is not positive definite")
    return factor if lower else tf.linalg.adjoint(factor)


def _solve_by_cholesky(factor: tf.Tensor, right: tf.Tensor, lower: bool) -> tf.Tensor:
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
    (given,) = computable("cholesky", a, finite=check_finite)
    return _cholesky("cholesky", given, lower)


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
    (given,) = computable("cho_factor", a, finite=check_finite)
    factor = _cholesky("cho_factor", given, lower)
    if SCIPY >= (1, 18) and as_tensor(a).dtype == factor.dtype:  # but not of integers
        return factor, lower
    rest = given - tf.linalg.band_part(given, -1 if lower else 0, 0 if lower else -1)
    return factor + rest, lower


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
    return _as_given(_solve_by_cholesky(factor, _columns("cho_solve", factor, right), bool(lower)), b)


# -- LU ------------------------------------------------------------------------------------------------------


def _exchange(x: tf.Tensor, i: tf.Tensor, j: tf.Tensor) -> tf.Tensor:
    """Return a vector with two elements exchanged."""
    where = tf.range(tf.shape(x)[0])
    return tf.where(tf.equal(where, i), x[j], tf.where(tf.equal(where, j), x[i], x))


def _pivots_of(order: tf.Tensor) -> tf.Tensor:
    """Convert a permutation of rows to LAPACK's pivots: the rows to exchange, one after the other."""
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
    factors, order = _factors("lu_factor", *computable("lu_factor", a, finite=check_finite))
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
    factors, pivots = (as_tensor(one) for one in lu_and_piv)
    a_matrix("lu_solve", factors, square=True)
    factors, right = computable("lu_solve", factors, b, finite=check_finite)
    right = _columns("lu_solve", factors, right)
    order, trans = _order_of(tf.cast(pivots, tf.int32)), _TRANSPOSED[trans]
    if not trans:
        return _as_given(_solve_by_factors(factors, order, right), b)
    unit = tf.linalg.set_diag(factors, tf.ones_like(tf.linalg.diag_part(factors)))
    found = _triangular(unit, _triangular(factors, right, trans, False), trans, True)
    return _as_given(gather_parts(found, tf.math.invert_permutation(order), 0), b)


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
    columns = _columns("lstsq", first, right)
    if first.shape[0] < first.shape[1]:
        raise refusal("lstsq of fewer equations than unknowns")
    relative = epsilon(first) if cond is None else cond
    solution, _, rank, values = least_squares(first, columns, relative)
    discard_unless(tf.equal(rank, first.shape[1]), "lstsq of a matrix that has not full rank")
    misfit = tf.reduce_sum(tf.square(tf.abs(columns - tf.matmul(first, solution))), axis=0)
    if first.shape[0] == first.shape[1]:
        return _as_given(solution, b), tf.zeros([0], misfit.dtype), tf.cast(rank, tf.int64), values
    return _as_given(solution, b), misfit[0] if rank_of(b) == 1 else misfit, tf.cast(rank, tf.int64), values


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
    (given,) = computable("pinv", a, finite=check_finite)
    left, values, right = svd_of(given, full_matrices=False)
    return tf.linalg.adjoint(tf.matmul(left * _inverses(given, values, atol, rtol), right))


def _inverses(a: tf.Tensor, values: tf.Tensor, atol: Any, rtol: Any) -> tf.Tensor:
    """Return the inverses of singular values or eigenvalues; values within the tolerances of 0 give 0."""
    rtol = max(a.shape) * epsilon(a) if rtol is None else rtol
    absolute, relative = (
        as_tensor(0.0 if one is None else one, values.dtype.as_numpy_dtype) for one in (atol, rtol)
    )
    discard_unless((absolute >= 0) & (relative >= 0), "pinv with negative tolerances")
    sizes = tf.abs(values)
    large = sizes > absolute + tf.reduce_max(sizes) * relative
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
    (given,) = computable("pinvh", a, finite=check_finite)
    values, vectors = tf.linalg.eigh(given if lower else tf.linalg.adjoint(given))
    inverses = _inverses(given, tf.math.real(values), atol, rtol)
    return tf.matmul(vectors * inverses, vectors, adjoint_b=True)
