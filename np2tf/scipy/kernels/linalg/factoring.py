"""Decompositions. As in numpy.linalg, the signs of vectors are TensorFlow's."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from np2tf.scipy.kernels.declare import native, refusal
from np2tf.scipy.kernels.linalg.matrices import a_matrix, computable
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp.linalg.factoring import singular_values, svd_of


@native("scipy.linalg.svd")
def svd(a: Array, full_matrices: bool = True, compute_uv: bool = True, check_finite: bool = True) -> Any:
    """Singular value decomposition.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.svd.html.
    """
    a_matrix("svd", a)
    (given,) = computable("svd", a, finite=check_finite)
    return svd_of(given, full_matrices) if compute_uv else singular_values(given)


@native("scipy.linalg.svdvals")
def svdvals(a: Array, check_finite: bool = True) -> tf.Tensor:
    """Singular values, the greatest first.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.svdvals.html.
    """
    a_matrix("svdvals", a)
    return singular_values(*computable("svdvals", a, finite=check_finite))


@native("scipy.linalg.qr")
def qr(a: Array, mode: str = "full", check_finite: bool = True) -> tuple[tf.Tensor, ...]:
    """Orthonormal columns and an upper triangular matrix.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.qr.html.
    """
    if mode not in ("full", "qr", "r", "economic"):
        raise refusal(f"qr with mode={mode!r}")
    a_matrix("qr", a)
    (given,) = computable("qr", a, finite=check_finite)
    orthonormal, upper = tf.linalg.qr(given, full_matrices=mode != "economic")
    return (upper,) if mode == "r" else (orthonormal, upper)


@native("scipy.linalg.eigh")
def eigh(a: Array, *, lower: bool = True, eigvals_only: bool = False, check_finite: bool = True) -> Any:
    """Eigenvalues, the least first, and eigenvectors of a Hermitian matrix.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.eigh.html.
    """
    a_matrix("eigh", a, square=True)
    (given,) = computable("eigh", a, finite=check_finite)
    triangle = given if lower else tf.linalg.adjoint(given)
    if eigvals_only:
        return tf.math.real(tf.linalg.eigvalsh(triangle))
    values, vectors = tf.linalg.eigh(triangle)
    return tf.math.real(values), vectors


@native("scipy.linalg.eigvalsh")
def eigvalsh(a: Array, *, lower: bool = True, check_finite: bool = True) -> tf.Tensor:
    """Eigenvalues of a Hermitian matrix, the least first.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.eigvalsh.html.
    """
    a_matrix("eigvalsh", a, square=True)
    (given,) = computable("eigvalsh", a, finite=check_finite)
    return tf.math.real(tf.linalg.eigvalsh(given if lower else tf.linalg.adjoint(given)))
