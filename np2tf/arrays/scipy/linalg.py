"""scipy.linalg: matrices, factors, decompositions, systems of equations."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import scipy.linalg
import tensorflow as tf

from np2tf.arrays.dispatch.op import Array
from np2tf.arrays.functions.linalg import norms
from np2tf.arrays.functions.linalg.checks import as_floating, epsilon
from np2tf.arrays.functions.linalg.factorizations import (
    eigenvectors,
    singular_values,
    singular_vectors,
    svd_of,
)
from np2tf.arrays.functions.linalg.solving import determinant, least_squares
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast, promote
from np2tf.arrays.scipy.declare import SCIPY, discard_unless, native, refusal, require_finite
from np2tf.arrays.tensors import batches
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_max, reduce_min, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import gather_parts

# -- matrices ------------------------------------------------------------------------------------------------
# Check operands of scipy.linalg, compute norms, and make matrices from vectors and blocks.


def computable(
    name: str,
    a: tf.Tensor,
    *others: tf.Tensor,
    square: bool = False,
    stacked: bool = False,
    finite: Any = True,
) -> tuple[tf.Tensor, ...]:
    """Return a matrix (with `stacked`, also several), and other operands, as LAPACK computes with them.

    Raises:
        StagingError: TensorFlow's functions lack the dtype, an operand is empty or of unknown size, or is not
            finite; or there are several matrices, which only SciPy handles.
        ValueError: the operand is not a matrix, or is not square and must be.
    """
    if rank_of(a) > 2 and not stacked:
        raise refusal(f"{name} of a stack of matrices")
    if rank_of(a) < 2 or (square and a.shape[-1] != a.shape[-2]):
        raise ValueError(f"{name}: expected a {'square ' if square else ''}matrix")
    for operand in (a, *others):
        if operand.dtype in (tf.float16, tf.bfloat16):
            raise refusal(f"{name} of {operand.dtype.name}")
        if operand.shape.num_elements() in (0, None):
            raise refusal(f"{name} of an array that is empty or of unknown size")
    tensors = as_floating(a, *others)
    require_finite(name, finite, *tensors)
    return tensors


@native("scipy.linalg.norm")
def norm(
    a: Array, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> tf.Tensor:
    """Return the norm of a vector or matrix, or the norms of the vectors or matrices in an array."""
    by_lapack = (1, float("inf")) if rank_of(a) == 2 else (None, 2) if rank_of(a) == 1 else ()
    if a.dtype in (tf.float32, tf.complex64) and ord in by_lapack and axis is None and not keepdims:
        raise refusal("norm in single precision, which SciPy returns as a Python number,")
    require_finite("norm", check_finite and (a.dtype.is_floating or a.dtype.is_complex), a)
    return norms.norm.__wrapped__(a, ord, axis, keepdims)  # type: ignore[attr-defined]


def _vector(name: str, c: tf.Tensor) -> tf.Tensor:
    """Return an operand after a check that it is a vector of known length."""
    if rank_of(c) != 1 or not c.shape[0]:
        raise refusal(f"{name} of an array that is not a vector of known length")
    return c


@native("scipy.linalg.toeplitz")
def toeplitz(c: Array, r: Any = None) -> tf.Tensor:
    """Return the matrix that is constant along its diagonals."""
    column = _vector("toeplitz", c)
    if r is None:
        row = tf.math.conj(column) if column.dtype.is_complex else column
    else:
        column, row = promote(column, r)
        _vector("toeplitz", row)
    rows, columns = column.shape[0], row.shape[0]
    along = tf.concat([tf.reverse(column, [0]), row[1:]], 0)
    return gather_parts(along, rows - 1 - np.arange(rows)[:, None] + np.arange(columns), 0)


@native("scipy.linalg.hankel")
def hankel(c: Array, r: Any = None) -> tf.Tensor:
    """Return the matrix that is constant along its antidiagonals."""
    column = _vector("hankel", c)
    if r is None:
        row = tf.zeros_like(column)
    else:
        column, row = promote(column, r)
        _vector("hankel", row)
    along = tf.concat([column, row[1:]], 0)
    return gather_parts(along, np.arange(column.shape[0])[:, None] + np.arange(row.shape[0]), 0)


@native("scipy.linalg.circulant")
def circulant(c: Array) -> tf.Tensor:
    """Return the matrix whose columns are the cyclic shifts of a vector."""
    length = _vector("circulant", c).shape[0]
    return gather_parts(c, (np.arange(length)[:, None] - np.arange(length)) % length, 0)


@native("scipy.linalg.block_diag")
def block_diag(*arrs: Array) -> tf.Tensor:
    """Return a matrix with the given matrices along its diagonal, and zeros elsewhere."""
    blocks = [
        tf.reshape(a, [1] * (2 - rank_of(a)) + a.shape.as_list()) if rank_of(a) < 2 else a for a in arrs
    ]
    if not blocks or any(rank_of(a) > 2 or not a.shape.is_fully_defined() for a in blocks):
        raise refusal("block_diag of stacks, or of matrices whose shapes are not known")
    dtype = np.result_type(*(a.dtype.as_numpy_dtype for a in blocks))
    columns, offset, rows = sum(a.shape[1] for a in blocks), 0, []
    for block in blocks:
        width = block.shape[1]
        rows.append(tf.pad(cast(block, dtype), [[0, 0], [offset, columns - offset - width]]))
        offset += width
    return tf.concat(rows, 0)


# -- exponential ---------------------------------------------------------------------------------------------
# The exponential of a matrix.


@native("scipy.linalg.expm")
def expm(A: Array) -> tf.Tensor:
    """Return the matrix exponential of square matrices."""
    return tf.linalg.expm(*computable("expm", A, square=True, stacked=True))


# -- factors -------------------------------------------------------------------------------------------------
# scipy.linalg over tensors: Cholesky and LU factors, and solving with them.

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
    """Solve a system with a triangular matrix (n, n) for right-hand sides (n, k).

    `trans` is 1 for the transpose of the matrix, and 2 for its conjugate transpose.
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
    """Solve a system for right-hand sides (n, k), given the upper or lower Cholesky factor of its matrix."""
    half = tf.linalg.triangular_solve(factor, right, lower=bool(lower), adjoint=not lower)
    return tf.linalg.triangular_solve(factor, half, lower=bool(lower), adjoint=bool(lower))


@native("scipy.linalg.cholesky")
def cholesky(a: Array, lower: bool = False, check_finite: bool = True) -> tf.Tensor:
    """Return the upper or lower triangular factor of positive definite matrices."""
    (matrices,) = computable("cholesky", a, square=True, stacked=True, finite=check_finite)
    return cholesky_factor("cholesky", matrices, lower)


@native("scipy.linalg.cho_factor")
def cho_factor(a: Array, lower: bool = False, check_finite: bool = True) -> tuple[tf.Tensor, bool]:
    """Return the Cholesky factor of a positive definite matrix, for `cho_solve`.

    As in SciPy, the other triangle keeps the elements of `a`, or is zero since SciPy 1.18.
    """
    (matrix,) = computable("cho_factor", a, square=True, finite=check_finite)
    factor = cholesky_factor("cho_factor", matrix, lower)
    if SCIPY >= (1, 18) and as_tensor(a).dtype == factor.dtype:  # but not of integers
        return factor, lower
    outer_triangle = matrix - tf.linalg.band_part(matrix, -1 if lower else 0, 0 if lower else -1)
    return factor + outer_triangle, lower


@native("scipy.linalg.cho_solve")
def cho_solve(c_and_lower: Any, b: Array, check_finite: bool = True) -> tf.Tensor:
    """Solve ``a @ x == b`` for x with the Cholesky factor of a."""
    c, lower = c_and_lower
    if not isinstance(lower, (bool, int, np.bool_)):
        raise refusal("cho_solve with a triangle that is known only at run time")
    factor = as_tensor(c)
    factor, right = computable("cho_solve", factor, b, square=True, finite=check_finite)
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
    """Return the LU decomposition of a square matrix, for `lu_solve`."""
    factors, order = lu_factors("lu_factor", *computable("lu_factor", a, square=True, finite=check_finite))
    return factors, _pivots_of(order)


@native("scipy.linalg.lu_solve")
def lu_solve(lu_and_piv: Any, b: Array, trans: Any = 0, check_finite: bool = True) -> tf.Tensor:
    """Solve ``a @ x == b`` for x with the factors that `lu_factor` returns for a."""
    factors, pivots = (as_tensor(array) for array in lu_and_piv)
    factors, right = computable("lu_solve", factors, b, square=True, finite=check_finite)
    right = columns_of("lu_solve", factors, right)
    order, trans = _order_of(tf.cast(pivots, tf.int32)), TRANSPOSE_CODES[trans]
    if not trans:
        return as_given(_solve_by_factors(factors, order, right), b)
    unit = tf.linalg.set_diag(factors, tf.ones_like(tf.linalg.diag_part(factors)))
    solution = solve_triangle(unit, solve_triangle(factors, right, trans, False), trans, True)
    return as_given(gather_parts(solution, tf.math.invert_permutation(order), 0), b)


# -- factoring -----------------------------------------------------------------------------------------------
# Decompositions.


@native("scipy.linalg.svd")
def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True, check_finite: bool = True) -> Any:
    """Return the singular value decomposition of a matrix, or its singular values alone."""
    (matrix,) = computable("svd", a, finite=check_finite)
    if not compute_uv:
        return singular_values(matrix)
    return singular_vectors(matrix, full_matrices, scipy.linalg.svd)


@native("scipy.linalg.svdvals")
def svdvals(a: Array, check_finite: bool = True) -> tf.Tensor:
    """Return the singular values of a matrix, the largest first."""
    return singular_values(*computable("svdvals", a, finite=check_finite))


@native("scipy.linalg.qr")
def qr(a: Array, mode: str = "full", check_finite: bool = True) -> tuple[tf.Tensor, ...]:
    """Return the QR decomposition of a matrix."""
    if mode not in ("full", "qr", "r", "economic"):
        raise refusal(f"qr with mode={mode!r}")
    (matrix,) = computable("qr", a, finite=check_finite)
    orthonormal, upper = tf.linalg.qr(matrix, full_matrices=mode != "economic")
    return (upper,) if mode == "r" else (orthonormal, upper)


@native("scipy.linalg.eigh")
def eigh(a: Array, *, lower: bool = True, eigvals_only: bool = False, check_finite: bool = True) -> Any:
    """Return the eigenvalues of a Hermitian matrix, the smallest first, and its eigenvectors."""
    (matrix,) = computable("eigh", a, square=True, finite=check_finite)
    triangle = matrix if lower else tf.linalg.adjoint(matrix)
    if eigvals_only:
        return tf.math.real(batches.eigvalsh(triangle))
    return eigenvectors(matrix, triangle, functools.partial(scipy.linalg.eigh, lower=lower))


@native("scipy.linalg.eigvalsh")
def eigvalsh(a: Array, *, lower: bool = True, check_finite: bool = True) -> tf.Tensor:
    """Return the eigenvalues of a Hermitian matrix, the smallest first."""
    (matrix,) = computable("eigvalsh", a, square=True, finite=check_finite)
    return tf.math.real(batches.eigvalsh(matrix if lower else tf.linalg.adjoint(matrix)))


# -- solving -------------------------------------------------------------------------------------------------
# Systems of equations, inverses and determinants, by triangular factors.


def _system(name: str, a: Array, b: Array, finite: bool) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a square matrix (n, n), and the right-hand sides as the columns of a matrix (n, k)."""
    matrix, right = computable(name, a, b, square=True, finite=finite)
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
    """Solve ``a @ x == b`` for x."""
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
    """Return the inverses of square matrices."""
    (matrices,) = computable("inv", a, square=True, stacked=True, finite=check_finite)
    lu_factors("inv", matrices)
    return tf.linalg.inv(matrices)


@native("scipy.linalg.det")
def det(a: Array, check_finite: bool = True) -> tf.Tensor:
    """Return the determinants of square matrices, computed in double precision."""
    (matrices,) = computable("det", a, square=True, stacked=True, finite=check_finite)
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
    """Solve ``a @ x == b`` for x with a triangular matrix."""
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


# -- least squares -------------------------------------------------------------------------------------------


@native("scipy.linalg.lstsq")
def lstsq(a: Array, b: Array, cond: Any = None, check_finite: bool = True) -> tuple[Any, ...]:
    """Solve a linear least-squares problem."""
    first, right = computable("lstsq", a, b, finite=check_finite)
    columns = columns_of("lstsq", first, right)
    if first.shape[0] < first.shape[1]:
        raise refusal("lstsq of fewer equations than unknowns")
    relative = epsilon(first) if cond is None else cond
    solution, _, rank, values = least_squares(first, columns, relative)
    discard_unless(tf.equal(rank, first.shape[1]), "lstsq of a matrix without full rank")
    misfit = reduce_sum(tf.square(tf.abs(columns - tf.matmul(first, solution))), axis=0)
    if first.shape[0] == first.shape[1]:
        return as_given(solution, b), tf.zeros([0], misfit.dtype), tf.cast(rank, tf.int64), values
    return as_given(solution, b), misfit[0] if rank_of(b) == 1 else misfit, tf.cast(rank, tf.int64), values


@native("scipy.linalg.pinv")
def pinv(a: Array, *, atol: Any = None, rtol: Any = None, check_finite: bool = True) -> tf.Tensor:
    """Return the Moore-Penrose inverse of a matrix."""
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
    """Return the pseudo-inverse of a Hermitian matrix."""
    (matrix,) = computable("pinvh", a, square=True, finite=check_finite)
    values, vectors = batches.eigh(matrix if lower else tf.linalg.adjoint(matrix))
    inverses = _inverses(matrix, tf.math.real(values), atol, rtol)
    return tf.matmul(vectors * inverses, vectors, adjoint_b=True)
