"""Singular vectors and eigenvectors, whose signs (for complex numbers, phases) are the routine's choice.

LAPACK and TensorFlow choose differently, and a program may join vectors that compiled code computes with
vectors that the host computes. So on CPUs NumPy computes them, also for graphs. TensorFlow computes them on
accelerators, in graphs that leave the process, and where a derivative may be asked for; results of eager code
then get NumPy's signs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.linalg import LinAlgError
from tensorflow.python.eager import record

from np2tf.staging import NoGraphFormError
from np2tf.tnp._tensor import batches
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.reductions_of_axes import reduce_any
from np2tf.tnp._tensor.storage import current_scope
from np2tf.tnp.linalg.checks import refuse_where

_SINGULAR = "the derivative of the vectors of singular complex matrices"
Decomposition = Callable[[np.ndarray], Sequence[np.ndarray]]


def computed_by_numpy(
    decompose: Decomposition, a: tf.Tensor, forms: Sequence[tf.TensorSpec]
) -> list[tf.Tensor] | None:
    """Return the results of NumPy's routine in a graph; None if TensorFlow's routine is to compute them.

    Args:
        decompose: NumPy's routine, as a function of the matrices.
        a: the matrices.
        forms: the shapes and dtypes of the results.

    Raises:
        StagingError: NumPy computes the results, because the code is eager; or the code is for XLA, which
            cannot call NumPy.
    """
    if _is_recorded():
        return None
    if tf.executing_eagerly():
        if not a.device.endswith("CPU:0"):
            return None
        raise NoGraphFormError("vectors with signs of NumPy's choice")
    scope = current_scope()
    if scope is None or not scope.trace.may_call_numpy or scope.trace.at_once:
        return None
    if scope.trace.xla:
        raise NoGraphFormError("vectors with signs of NumPy's choice in code for XLA")
    scope.trace.has_gaps = True  # a gradient needs another trace

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
    """Return U (..., m, k), the singular values (..., k) and the adjoint of V (..., k, n).

    Args:
        a: finite matrices (..., m, n).
        full_matrices: whether U and V are square.
        routine: NumPy's or SciPy's function.

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
    return record.could_possibly_record() or (scope is not None and scope.trace.gradients)


def eigenvectors(
    a: tf.Tensor, triangle: tf.Tensor, routine: Callable[[np.ndarray], Any]
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the eigenvalues (..., n) of Hermitian matrices, and their eigenvectors (..., n, n) in columns.

    Args:
        a: the matrices (..., n, n).
        triangle: the matrices for TensorFlow, which reads the lower triangle.
        routine: NumPy's or SciPy's function, with the triangle that it reads.

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
