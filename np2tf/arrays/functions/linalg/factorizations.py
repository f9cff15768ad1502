"""svd, qr, cholesky, eigenvalues; vectors whose signs are NumPy's."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EighResult, EigResult, QRResult, SVDResult

from np2tf.arrays.dispatch.op import Array, op
from np2tf.arrays.functions.linalg.checks import (
    discard_if_nearly_singular,
    matrix,
    refuse_where,
    require_finite,
    square,
)
from np2tf.arrays.operands.differentiated_values import is_followed
from np2tf.arrays.tensors import batches
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any, reduce_sum
from np2tf.arrays.tensors.storage import current_scope
from np2tf.arrays.tensors.tapes import may_record
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import NoGraphFormError

__all__ = [
    "cholesky",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "qr",
    "svd",
    "svdvals",
]


# -- numpys vectors ------------------------------------------------------------------------------------------
# Singular vectors and eigenvectors, whose signs (for complex numbers, phases) are the routine's choice.
#
# LAPACK and TensorFlow choose differently, and a program may join vectors that compiled code computes with
# vectors that the host computes. So on CPUs NumPy computes them, also for graphs. TensorFlow computes them
# on accelerators, in graphs that leave the process, and where a derivative may be asked for; results of
# eager code then get NumPy's signs.

_SINGULAR = "the derivative of the vectors of singular complex matrices"
Decomposition = Callable[[np.ndarray], Sequence[np.ndarray]]


def computed_by_numpy(
    decompose: Decomposition, a: tf.Tensor, forms: Sequence[tf.TensorSpec]
) -> list[tf.Tensor] | None:
    """Return the results of NumPy's routine in a graph, which have these shapes and dtypes; None if
    TensorFlow's routine is to compute them.

    Raises:
        StagingError: NumPy computes the results, because the code is eager; or the code is for XLA, which
            cannot call NumPy.
    """
    if _is_recorded():
        return None
    if tf.executing_eagerly():
        if not a.device.endswith("CPU:0"):
            return None
        raise NoGraphFormError("vectors whose signs NumPy chooses")
    scope = current_scope()
    if scope is None or not scope.trace.may_call_numpy or scope.trace.at_once:
        return None
    if scope.trace.xla:
        raise NoGraphFormError("vectors whose signs NumPy chooses in code for XLA")
    scope.trace.gaps.is_taken = True  # a gradient needs another trace

    types = [form.dtype for form in forms]

    def run(matrices: np.ndarray) -> list[Any]:
        try:
            return [*decompose(matrices), np.False_]
        except LinAlgError:
            parts = zip(decompose(np.zeros_like(matrices)), types, strict=True)
            return [*(np.full_like(part, np.nan, dtype.as_numpy_dtype) for part, dtype in parts), np.True_]

    *parts, has_failed = tf.numpy_function(run, [a], [*types, tf.bool], stateful=False)
    record_violation(tf.ensure_shape(has_failed, []))
    return [tf.ensure_shape(part, form.shape) for part, form in zip(parts, forms, strict=True)]


def singular_vectors(
    a: tf.Tensor, full_matrices: bool, routine: Callable[..., Any] = np.linalg.svd
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return U (..., m, k), the singular values (..., k) and the adjoint of V (..., k, n) of finite matrices.

    `routine` is NumPy's or SciPy's function.

    Raises:
        StagingError: NumPy computes the result.
    """
    *stack, rows, columns = a.shape
    count = None if rows is None or columns is None else min(rows, columns)
    forms = [
        tf.TensorSpec([*stack, rows, rows if full_matrices else count], a.dtype),
        tf.TensorSpec([*stack, count], a.dtype.real_dtype),
        tf.TensorSpec([*stack, columns if full_matrices else count, columns], a.dtype),
    ]
    parts = computed_by_numpy(lambda matrices: routine(matrices, full_matrices=full_matrices), a, forms)
    if parts is not None:
        return parts[0], parts[1], parts[2]
    values, left, right = decompose(a, full_matrices)
    if a.dtype.is_complex and count and _is_recorded():
        # The vectors of a singular value 0 have no derivative, and `decompose` may not find them.
        limit = np.finfo(a.dtype.real_dtype.as_numpy_dtype).eps * 100
        refuse_where(reduce_any(values[..., -1] <= limit * values[..., 0]), NoGraphFormError(_SINGULAR))
    if tf.executing_eagerly():
        factors = _phases(left[..., :count], routine(a.numpy(), full_matrices=False)[0])
        left, right = _turn(left, factors), _turn(right, factors)
    return left, values, tf.linalg.adjoint(right)


def decompose(a: tf.Tensor, full_matrices: bool) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return the singular values, U and V, with the signs of TensorFlow's choice.

    The second derivatives of TensorFlow's routine are wrong for complex numbers. If a tape records, complex
    matrices are decomposed by the eigenvectors of ``[[0, A], [A.H, 0]]``, whose largest eigenvalues are the
    singular values (Golub and Van Loan, Matrix Computations, section 8.6.1).

    Raises:
        StagingError: all vectors of complex matrices that are not square are differentiated.
    """
    if not a.dtype.is_complex or None in a.shape[-2:] or not _is_recorded():
        return batches.svd(a, full_matrices=full_matrices)
    rows, columns = a.shape[-2:]
    if full_matrices and rows != columns:
        raise NoGraphFormError("the derivative of all singular vectors of complex matrices")
    upper = tf.concat([tf.zeros_like(tf.matmul(a, a, adjoint_b=True)), a], -1)
    lower = tf.concat([tf.linalg.adjoint(a), tf.zeros_like(tf.matmul(a, a, adjoint_a=True))], -1)
    values, vectors = batches.eigh(tf.concat([upper, lower], -2))
    count = min(rows, columns)
    values = tf.reverse(tf.math.real(values)[..., -count:], [-1])
    vectors = tf.reverse(vectors[..., -count:], [-1]) * tf.constant(np.sqrt(2), a.dtype)
    return values, vectors[..., :rows, :], vectors[..., rows:, :]


def _is_recorded() -> bool:
    """Return whether a tape records, or may ask for gradients of the code that is being staged."""
    scope = None if tf.executing_eagerly() else current_scope()
    return may_record() or (scope is not None and not scope.trace.gaps.is_allowed)


def eigenvectors(
    a: tf.Tensor, triangle: tf.Tensor, routine: Callable[[np.ndarray], Any]
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the eigenvalues (..., n) of Hermitian matrices, and their eigenvectors (..., n, n) in columns.

    `routine` is NumPy's or SciPy's function for the triangle that it reads; TensorFlow reads the lower
    triangle of `triangle`.

    Raises:
        StagingError: NumPy computes the result.
    """
    forms = [tf.TensorSpec(a.shape[:-1], a.dtype.real_dtype), tf.TensorSpec(a.shape, a.dtype)]
    parts = computed_by_numpy(routine, a, forms)
    if parts is not None:
        return parts[0], parts[1]
    values, vectors = batches.eigh(triangle)
    if tf.executing_eagerly():
        vectors = turn_to(vectors, routine(a.numpy())[1])
    return tf.math.real(values), vectors


def turn_to(vectors: tf.Tensor, numpys: np.ndarray) -> tf.Tensor:
    """Return eager vectors in columns with the signs, or phases, of NumPy's."""
    return _turn(vectors, _phases(vectors, numpys))


def _phases(vectors: tf.Tensor, numpys: np.ndarray) -> tf.Tensor:
    """Return the factors (..., k) that give vectors in columns the signs, or phases, of NumPy's."""
    overlap = np.sum(vectors.numpy().conj() * numpys, axis=-2)
    sizes = np.abs(overlap)
    return tf.constant(np.where(sizes > 0, overlap / np.where(sizes > 0, sizes, 1), 1), vectors.dtype)


def _turn(vectors: tf.Tensor, factors: tf.Tensor) -> tf.Tensor:
    """Multiply the first columns by the factors."""
    count = factors.shape[-1]
    return tf.concat([vectors[..., :count] * factors[..., None, :], vectors[..., count:]], -1)


# -- general -------------------------------------------------------------------------------------------------
# Eigenvalues of square matrices that need not be Hermitian.
#
# NumPy's result for real matrices is real if all eigenvalues are: its dtype depends on values, which only
# eager code knows. There NumPy computes, except where a transform follows the matrices: then TensorFlow
# does, in complex numbers. The results of eager code have the order and the signs of NumPy's; for compiled
# code see `np2tf.arrays.functions.linalg.factorizations`.


def eigensystem(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the eigenvalues (..., n), and the eigenvectors (..., n, n) in columns.

    Raises:
        StagingError: the matrices are real; NumPy computes what no transform follows.
    """
    if a.dtype.is_complex:
        forms = [tf.TensorSpec(a.shape[:-1], a.dtype), tf.TensorSpec(a.shape, a.dtype)]
        parts = computed_by_numpy(np.linalg.eig, a, forms)
        if parts is not None:
            return parts[0], parts[1]
    is_known = hasattr(a, "numpy")
    if not a.dtype.is_complex and not (is_known and is_followed(a)):
        raise NoGraphFormError("eigenvalues of a real matrix that need not be symmetric")
    values, vectors = tf.linalg.eig(_as_complex(a))
    vectors = _normalise(vectors)
    return _as_numpy_does(values, vectors, a.numpy()) if is_known else (values, vectors)


def _as_complex(a: tf.Tensor) -> tf.Tensor:
    return a if a.dtype.is_complex else tf.complex(a, tf.zeros_like(a))


def _normalise(vectors: tf.Tensor) -> tf.Tensor:
    """Make the largest component of each column real, as LAPACK does."""
    rows = tf.argmax(tf.abs(vectors), axis=-2)
    indicator = tf.linalg.matrix_transpose(tf.one_hot(rows, tf.shape(vectors)[-2], dtype=vectors.dtype))
    pivot = reduce_sum(vectors * indicator, axis=-2, keepdims=True)
    return vectors * tf.math.conj(pivot) / tf.cast(tf.abs(pivot), vectors.dtype)


def _as_numpy_does(values: tf.Tensor, vectors: tf.Tensor, a: np.ndarray) -> tuple[tf.Tensor, tf.Tensor]:
    """Give results for a known `a` the order, the signs and the dtype of NumPy's."""
    reference, directions = np.linalg.eig(a)
    order = _order(values.numpy(), reference)
    values, columns = (
        tf.gather(part, order, axis=order.ndim - 1, batch_dims=order.ndim - 1)
        for part in (values, tf.linalg.matrix_transpose(vectors))
    )
    vectors = turn_to(tf.linalg.matrix_transpose(columns), directions)
    if reference.dtype.kind == "c":
        return values, vectors
    return tf.math.real(values), tf.math.real(vectors)


def _order(values: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return for each number of `reference` the place of the nearest value that no other has taken."""
    distances = np.abs(reference[..., :, None] - values[..., None, :])
    order = np.empty_like(reference, np.int64)
    for place in range(values.shape[-1]):
        nearest = order[..., place] = distances[..., place, :].argmin(-1)
        np.put_along_axis(distances, nearest[..., None, None], np.inf, axis=-1)
    return order


# -- factoring -----------------------------------------------------------------------------------------------
# Factorizations: svd, qr, cholesky, eigenvalues.


def svd_of(a: tf.Tensor, full_matrices: bool) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return U, the singular values, and the adjoint of V, with the signs of TensorFlow's choice, for results
    that do not depend on them.

    Raises:
        LinAlgError: a known `a` is not finite.
    """
    require_finite(a)
    values, left, right = decompose(a, full_matrices)
    return left, values, tf.linalg.adjoint(right)


def singular_values(a: tf.Tensor, hermitian: bool = False) -> tf.Tensor:
    """Return the singular values, the largest first."""
    if hermitian:
        return tf.sort(tf.abs(tf.math.real(batches.eigvalsh(a))), direction="DESCENDING")
    require_finite(a)
    return batches.svd(a, compute_uv=False)


def _svd_hermitian(a: tf.Tensor) -> SVDResult:
    """Return the SVD of Hermitian matrices from their eigenvalues, whose signs go into V, as in NumPy."""
    values, vectors = eigenvectors(a, a, np.linalg.eigh)
    order = tf.argsort(tf.abs(values), direction="DESCENDING")
    signs = tf.gather(tf.sign(values), order, batch_dims=order.shape.rank - 1)
    sizes = tf.gather(tf.abs(values), order, batch_dims=order.shape.rank - 1)
    left = tf.gather(vectors, order, axis=-1, batch_dims=order.shape.rank - 1)
    right = left * tf.cast(signs, left.dtype)[..., None, :]
    return SVDResult(left, sizes, tf.linalg.adjoint(right))


@op(np.linalg.svd)
def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return the singular value decomposition ``a = U @ diag(S) @ Vh``."""
    a = square(a) if hermitian else matrix(a)
    if not compute_uv:
        return singular_values(a, hermitian)
    if hermitian:
        return _svd_hermitian(a)
    require_finite(a)
    return SVDResult(*singular_vectors(a, full_matrices))


@op(np.linalg.svdvals)
def svdvals(x: Array, /) -> tf.Tensor:
    """Return the singular values of matrices, the largest first."""
    return singular_values(matrix(x))


@op(np.linalg.qr)
def qr(a: Array, mode: str = "reduced") -> Any:
    """Return the decomposition ``a = Q @ R`` with orthonormal columns of Q and upper triangular R."""
    if mode in ("f", "full", "e", "economic", "raw"):
        raise NoGraphFormError(f"qr with mode {mode!r}")
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    a = matrix(a)
    orthonormal, upper = tf.linalg.qr(a, full_matrices=mode == "complete")
    return upper if mode == "r" else QRResult(orthonormal, upper)


@op(np.linalg.cholesky)
def cholesky(a: Array, /, *, upper: bool = False) -> tf.Tensor:
    """Return the lower triangular L with ``a = L @ L.H``, or its adjoint."""
    a = square(a)
    lower = tf.linalg.cholesky(tf.linalg.adjoint(a) if upper else a)
    # TensorFlow marks failure by NaN or 0; while staging the call is discarded then, and NumPy raises.
    has_failed = tf.logical_not(reduce_all(tf.math.real(tf.linalg.diag_part(lower)) > 0))
    if not tf.executing_eagerly():
        record_violation(has_failed)
        discard_if_nearly_singular(a, tf.square(tf.linalg.diag_part(lower)))
    elif bool(has_failed):
        raise LinAlgError("Matrix is not positive definite")
    return tf.linalg.adjoint(lower) if upper else lower


def _complete_triangle(a: tf.Tensor, triangle: str) -> tf.Tensor:
    """The matrices as `eigh` of TensorFlow takes them: by their lower triangles, diagonals real."""
    name = triangle.upper()
    if name not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    a = square(a)
    return tf.linalg.adjoint(a) if name == "U" else a


@op(np.linalg.eigh)
def eigh(a: Array, UPLO: str = "L") -> EighResult:
    """Return the eigenvalues of Hermitian matrices, the smallest first, and their eigenvectors."""
    triangle = _complete_triangle(a, UPLO)
    return EighResult(*eigenvectors(square(a), triangle, functools.partial(np.linalg.eigh, UPLO=UPLO)))


@op(np.linalg.eigvalsh)
def eigvalsh(a: Array, UPLO: str = "L") -> tf.Tensor:
    """Return the eigenvalues of Hermitian matrices, the smallest first."""
    return tf.math.real(batches.eigvalsh(_complete_triangle(a, UPLO)))


@op(np.linalg.eig)
def eig(a: Array) -> EigResult:
    """Return the eigenvalues and eigenvectors of square matrices.

    The eigenvectors have length 1, and their largest components are real, as LAPACK normalises them.
    """
    return EigResult(*eigensystem(square(a)))


@op(np.linalg.eigvals)
def eigvals(a: Array) -> tf.Tensor:
    """Return the eigenvalues of square matrices."""
    return eigensystem(square(a))[0]
