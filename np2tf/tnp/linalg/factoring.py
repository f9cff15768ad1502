"""Factorizations: svd, qr, cholesky, eigenvalues."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.linalg import LinAlgError
from numpy.linalg._linalg import EighResult, EigResult, QRResult, SVDResult

from np2tf.staging import NoGraphFormError
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._tensor import batches
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_all
from np2tf.tnp.linalg import general
from np2tf.tnp.linalg.checks import discard_if_nearly_singular, matrix, require_finite, square
from np2tf.tnp.linalg.numpys_vectors import decompose, eigenvectors, singular_vectors

__all__ = ["cholesky", "eig", "eigh", "eigvals", "eigvalsh", "qr", "svd", "svdvals"]


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
    """Return the singular value decomposition ``a = U @ diag(S) @ Vh``.

    Args:
        a: array (..., m, n) of numbers.
        full_matrices: whether U and Vh are square.
        compute_uv: False returns the singular values alone.
        hermitian: whether `a` is Hermitian, so that eigenvalues can be used.

    Returns:
        A named tuple of U, S and Vh; S is (..., min(m, n)), the largest value first.

    Raises:
        LinAlgError: `a` has fewer than two axes, or is not finite.
        TypeError: `a` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.svd.html.
    """
    a = square(a) if hermitian else matrix(a)
    if not compute_uv:
        return singular_values(a, hermitian)
    if hermitian:
        return _svd_hermitian(a)
    require_finite(a)
    return SVDResult(*singular_vectors(a, full_matrices))


@op(np.linalg.svdvals)
def svdvals(x: Array, /) -> tf.Tensor:
    """Return the singular values of matrices, the largest first.

    Args:
        x: array (..., m, n) of numbers.

    Returns:
        An array (..., min(m, n)) of floats.

    Raises:
        LinAlgError: `x` has fewer than two axes, or is not finite.
        TypeError: `x` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.svdvals.html.
    """
    return singular_values(matrix(x))


@op(np.linalg.qr)
def qr(a: Array, mode: str = "reduced") -> Any:
    """Return the decomposition ``a = Q @ R`` with orthonormal columns of Q and upper triangular R.

    Args:
        a: array (..., m, n) of numbers.
        mode: "reduced", "complete", or "r" for R alone.

    Returns:
        A named tuple of Q and R, or R.

    Raises:
        ValueError: `mode` is unknown.
        LinAlgError: `a` has fewer than two axes.
        StagingError: only NumPy has the mode, such as "raw".

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.qr.html.
    """
    if mode in ("f", "full", "e", "economic", "raw"):
        raise NoGraphFormError(f"qr with mode {mode!r}")
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    a = matrix(a)
    orthonormal, upper = tf.linalg.qr(a, full_matrices=mode == "complete")
    return upper if mode == "r" else QRResult(orthonormal, upper)


@op(np.linalg.cholesky)
def cholesky(a: Array, /, *, upper: bool = False) -> tf.Tensor:
    """Return the lower triangular L with ``a = L @ L.H``, or its adjoint.

    Args:
        a: array (..., n, n) of numbers, of which only the same triangle is read.
        upper: whether to return the adjoint.

    Returns:
        An array (..., n, n) of floating-point or complex numbers.

    Raises:
        LinAlgError: a matrix is not square or not positive definite.
        TypeError: `a` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.cholesky.html.
    """
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
    """Return the eigenvalues of Hermitian matrices, the smallest first, and their eigenvectors.

    Args:
        a: array (..., n, n) of numbers.
        UPLO: "L" or "U": the triangle to read.

    Returns:
        A named tuple of the eigenvalues (..., n) and the eigenvectors (..., n, n) in columns.

    Raises:
        ValueError: `UPLO` is unknown.
        LinAlgError: a matrix is not square.
        TypeError: `a` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigh.html.
    """
    triangle = _complete_triangle(a, UPLO)
    return EighResult(*eigenvectors(square(a), triangle, functools.partial(np.linalg.eigh, UPLO=UPLO)))


@op(np.linalg.eigvalsh)
def eigvalsh(a: Array, UPLO: str = "L") -> tf.Tensor:
    """Return the eigenvalues of Hermitian matrices, the smallest first.

    Args:
        a: array (..., n, n) of numbers.
        UPLO: "L" or "U": the triangle to read.

    Returns:
        An array (..., n) of floats.

    Raises:
        ValueError: `UPLO` is unknown.
        LinAlgError: a matrix is not square.
        TypeError: `a` is float16.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigvalsh.html.
    """
    return tf.math.real(batches.eigvalsh(_complete_triangle(a, UPLO)))


@op(np.linalg.eig)
def eig(a: Array) -> EigResult:
    """Return the eigenvalues and eigenvectors of square matrices.

    The eigenvectors have length 1, and their largest components are real, as LAPACK normalises them.

    Args:
        a: array (..., n, n) of complex numbers; of real numbers where eager code is differentiated.

    Returns:
        A named tuple of the eigenvalues (..., n) and the eigenvectors (..., n, n) in columns.

    Raises:
        LinAlgError: a matrix is not square.
        StagingError: the matrices are real, and the dtype of NumPy's result depends on their values.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.eig.html.
    """
    return EigResult(*general.eigensystem(square(a)))


@op(np.linalg.eigvals)
def eigvals(a: Array) -> tf.Tensor:
    """Return the eigenvalues of square matrices.

    Args:
        a: array (..., n, n) of complex numbers; of real numbers where eager code is differentiated.

    Returns:
        An array (..., n) of complex numbers; of real numbers if NumPy's result is real.

    Raises:
        LinAlgError: a matrix is not square.
        StagingError: the matrices are real, and the dtype of NumPy's result depends on their values.

    See https://numpy.org/doc/stable/reference/generated/numpy.linalg.eigvals.html.
    """
    return general.eigensystem(square(a))[0]
