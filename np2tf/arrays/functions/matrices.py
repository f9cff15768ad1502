"""Matrices with a rule for their elements: unit, triangular, diagonal, Vandermonde."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.array.layout import lay_out, order_of_new
from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.dispatch.host_fallback import SMALL
from np2tf.arrays.dispatch.op import Array, COrF, DType, Int, Shape, op, shape_of
from np2tf.arrays.functions.ufuncs.running_products import running_product
from np2tf.arrays.operands.conversion import cast
from np2tf.arrays.operands.promotion import tf_dtype

__all__ = ["diag", "diagflat", "eye", "identity", "tri", "tril", "triu", "vander"]

_FLOAT = np.dtype(float)


def lower(rows: Any, columns: Any, k: int) -> tf.Tensor:
    """Return a boolean matrix that is true where column <= row + k."""
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= SMALL:
        return tf.constant(np.tri(rows, columns, k, dtype=bool))
    row = tf.range(tf.cast(rows, tf.int64))[:, None]
    return tf.range(tf.cast(columns, tf.int64)) <= row + k


@op(np.eye)
def eye(
    N: Shape,
    M: Any = None,
    k: Int = 0,
    dtype: DType = _FLOAT,
    order: COrF = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return a matrix with ones on a diagonal and zeros elsewhere."""
    rows = N[0]
    columns = rows if M is None else shape_of(M)[0]
    if isinstance(rows, int) and isinstance(columns, int) and rows * columns <= SMALL:
        return lay_out(tf.constant(np.eye(rows, columns, k, dtype)), order_of_new(2, order))
    row = tf.range(tf.cast(rows, tf.int64))[:, None]
    unit = tf.equal(tf.range(tf.cast(columns, tf.int64)), row + k)
    return lay_out(tf.cast(unit, tf_dtype(dtype or float)), order_of_new(2, order))


@op(np.identity)
def identity(n: Shape, dtype: DType = None, *, like: Any = None) -> ndarray:
    """Return a unit matrix."""
    return eye(n, dtype=dtype or _FLOAT)


@op(np.tri)
def tri(N: Shape, M: Any = None, k: Int = 0, dtype: DType = _FLOAT, *, like: Any = None) -> ndarray:
    """Return a matrix with ones at and below a diagonal."""
    columns = N[0] if M is None else shape_of(M)[0]
    return tensor_array(tf.cast(lower(N[0], columns, k), tf_dtype(dtype or float)))


def _triangle(m: tf.Tensor, k: int) -> tf.Tensor:
    lengths = m.shape.as_list()
    sizes = [tf.shape(m)[j] if n is None else n for j, n in enumerate(lengths)][-2:]
    if not sizes:
        raise TypeError("tri() missing 1 required positional argument: 'N'")
    return lower(sizes[0], sizes[-1], k)


@op(np.tril)
def tril(m: Array, k: Int = 0) -> ndarray:
    """Return matrices with zeros above a diagonal."""
    return tensor_array(tf.where(_triangle(m, k), m, tf.zeros((), m.dtype)))


@op(np.triu)
def triu(m: Array, k: Int = 0) -> ndarray:
    """Return matrices with zeros below a diagonal."""
    return tensor_array(tf.where(_triangle(m, k - 1), tf.zeros((), m.dtype), m))


def _diagonal_matrix(v: tf.Tensor, k: int) -> ndarray:
    if v.dtype == tf.bool:
        return tensor_array(tf.cast(tf.linalg.diag(tf.cast(v, tf.int8), k=k), tf.bool))
    return tensor_array(tf.linalg.diag(v, k=k))


@op(np.diag)
def diag(v: Any, k: Int = 0) -> Any:
    """Return the diagonal of a matrix as a view, or a matrix with a vector on a diagonal."""
    from np2tf.arrays.functions.parts import diagonal

    tensor = Array.__metadata__[0](v)  # type: ignore[attr-defined]
    if tensor.shape.rank == 1:
        return _diagonal_matrix(tensor, k)
    if tensor.shape.rank == 2:
        return diagonal(v, k)
    raise ValueError("Input must be 1- or 2-d.")


@op(np.diagflat)
def diagflat(v: Array, k: Int = 0) -> ndarray:
    """Return a matrix with the flattened input on a diagonal."""
    return _diagonal_matrix(tf.reshape(v, [-1]), k)


@op(np.vander)
def vander(x: Array, N: Any = None, increasing: bool = False) -> ndarray:
    """Return the Vandermonde matrix of a vector."""
    if x.shape.rank != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = x.shape[0] if N is None else operator.index(N)
    if count is not None and count < 0:
        raise ValueError("negative dimensions are not allowed")
    x = cast(x, np.promote_types(x.dtype.as_numpy_dtype, int))
    powers = tf.repeat(x[:, None], max(count - 1, 0), axis=1)
    matrix = tf.concat([tf.ones_like(x)[:, None], running_product(powers, 1)], 1)[:, :count]
    return tensor_array(matrix if increasing else tf.reverse(matrix, [1]))
