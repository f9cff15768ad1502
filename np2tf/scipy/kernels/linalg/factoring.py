"""Decompositions."""

from __future__ import annotations

import functools
from typing import Any

import scipy.linalg
import tensorflow as tf

from np2tf.scipy.kernels.declare import native, refusal
from np2tf.scipy.kernels.linalg.matrices import a_matrix, computable
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._tensor import batches
from np2tf.tnp.linalg.factoring import singular_values
from np2tf.tnp.linalg.numpys_vectors import eigenvectors, singular_vectors


@native("scipy.linalg.svd")
def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True, check_finite: bool = True) -> Any:
    """Return the singular value decomposition of a matrix, or its singular values alone.

    Args:
        a: array (m, n) of real or complex numbers.
        full_matrices: whether the factors are square.
        compute_uv: whether to return the factors.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        The factors (m, m) and (n, n) with the singular values (min(m, n),), largest first, between them; if
        `full_matrices` is false, the factors (m, k) and (k, n) with k = min(m, n). Only the singular values
        if `compute_uv` is false.

    Raises:
        ValueError: `a` is not a matrix.
        StagingError: `a` is a stack of matrices, float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.svd.html.
    """
    a_matrix("svd", a)
    (matrix,) = computable("svd", a, finite=check_finite)
    if not compute_uv:
        return singular_values(matrix)
    return singular_vectors(matrix, full_matrices, scipy.linalg.svd)


@native("scipy.linalg.svdvals")
def svdvals(a: Array, check_finite: bool = True) -> tf.Tensor:
    """Return the singular values of a matrix, the largest first.

    Args:
        a: array (m, n) of real or complex numbers.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array (min(m, n),) of floats.

    Raises:
        ValueError: `a` is not a matrix.
        StagingError: `a` is a stack of matrices, float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.svdvals.html.
    """
    a_matrix("svdvals", a)
    return singular_values(*computable("svdvals", a, finite=check_finite))


@native("scipy.linalg.qr")
def qr(a: Array, mode: str = "full", check_finite: bool = True) -> tuple[tf.Tensor, ...]:
    """Return the QR decomposition of a matrix.

    Args:
        a: array (m, n) of real or complex numbers.
        mode: "full", "economic", or "r" for the triangular factor only.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        The factor with orthonormal columns, (m, m) or (m, min(m, n)), and the upper triangular factor; a
        tuple of the triangular factor alone for mode "r".

    Raises:
        ValueError: `a` is not a matrix.
        StagingError: the mode is "raw", or `a` is a stack of matrices, float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.qr.html.
    """
    if mode not in ("full", "qr", "r", "economic"):
        raise refusal(f"qr with mode={mode!r}")
    a_matrix("qr", a)
    (matrix,) = computable("qr", a, finite=check_finite)
    orthonormal, upper = tf.linalg.qr(matrix, full_matrices=mode != "economic")
    return (upper,) if mode == "r" else (orthonormal, upper)


@native("scipy.linalg.eigh")
def eigh(a: Array, *, lower: bool = True, eigvals_only: bool = False, check_finite: bool = True) -> Any:
    """Return the eigenvalues of a Hermitian matrix, the smallest first, and its eigenvectors.

    Args:
        a: array (n, n) of real or complex numbers.
        lower: whether to read the lower triangle of `a`, and not the upper triangle.
        eigvals_only: whether to return the eigenvalues alone.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        The eigenvalues (n,) of floats, and the eigenvectors as the columns of an array (n, n).

    Raises:
        ValueError: `a` is not a square matrix.
        StagingError: `a` is a stack of matrices, float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.eigh.html.
    """
    a_matrix("eigh", a, square=True)
    (matrix,) = computable("eigh", a, finite=check_finite)
    triangle = matrix if lower else tf.linalg.adjoint(matrix)
    if eigvals_only:
        return tf.math.real(batches.eigvalsh(triangle))
    return eigenvectors(matrix, triangle, functools.partial(scipy.linalg.eigh, lower=lower))


@native("scipy.linalg.eigvalsh")
def eigvalsh(a: Array, *, lower: bool = True, check_finite: bool = True) -> tf.Tensor:
    """Return the eigenvalues of a Hermitian matrix, the smallest first.

    Args:
        a: array (n, n) of real or complex numbers.
        lower: whether to read the lower triangle of `a`, and not the upper triangle.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array (n,) of floats.

    Raises:
        ValueError: `a` is not a square matrix.
        StagingError: `a` is a stack of matrices, float16, empty, or not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.eigvalsh.html.
    """
    a_matrix("eigvalsh", a, square=True)
    (matrix,) = computable("eigvalsh", a, finite=check_finite)
    return tf.math.real(batches.eigvalsh(matrix if lower else tf.linalg.adjoint(matrix)))
