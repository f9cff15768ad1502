"""Eigenvalues of square matrices that need not be Hermitian.

NumPy's result for real matrices is real if all eigenvalues are: its dtype depends on values, which only eager
code knows. There NumPy computes, except where a transform follows the matrices: then TensorFlow does, in
complex numbers. The results of eager code have the order and the signs of NumPy's; for compiled code see
`np2tf.tnp.linalg.numpys_vectors`.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError
from np2tf.tnp._operands.differentiated_values import is_followed
from np2tf.tnp._tensor.reductions_of_axes import reduce_sum
from np2tf.tnp.linalg.numpys_vectors import computed_by_numpy, turn_to


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
