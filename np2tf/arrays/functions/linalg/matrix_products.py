"""numpy.linalg's own versions of functions that NumPy's main namespace has, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index
from numpy.linalg import LinAlgError

from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.array.view_transforms import Diagonal
from np2tf.arrays.dispatch.op import Array, DType, Int, Operands, View, op
from np2tf.arrays.functions.products import contract_axes, diagonal_sum, multiply
from np2tf.arrays.functions.reshape import matrix_transpose, view
from np2tf.arrays.functions.ufuncs.matrix import matmul as matrix_product
from np2tf.arrays.functions.ufuncs.matrix import vecdot as vector_product
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS
from np2tf.arrays.operands.axes import permute_axes, rank_of
from np2tf.arrays.operands.conversion import promote

__all__ = [
    "cross",
    "diagonal",
    "matmul",
    "matrix_transpose",
    "multi_dot",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
]


@op(np.linalg.outer)
def outer(x1: Array, x2: Array, /) -> tf.Tensor:
    """Return the products of all pairs of elements of two vectors."""
    if rank_of(x1) != 1 or rank_of(x2) != 1:
        raise ValueError(
            "Input arrays must be one-dimensional, but they are "
            f"x1.ndim={rank_of(x1)} and x2.ndim={rank_of(x2)}."
        )
    return multiply(x1[:, None], x2[None, :])


@op(np.linalg.trace)
def trace(x: Array, /, *, offset: Int = 0, dtype: DType = None) -> tf.Tensor:
    """Return the sums along diagonals of matrices."""
    if rank_of(x) < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    return diagonal_sum(x, offset, dtype)


@view(np.linalg.diagonal)
def diagonal(x: View, /, *, offset: Int = 0) -> ndarray:
    """Return the diagonals of matrices as a view."""
    if x.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    return x.view_through(Diagonal(offset))


@op(np.linalg.cross)
def cross(x1: Array, x2: Array, /, *, axis: Int = -1) -> tf.Tensor:
    """Return the cross products of vectors of three components."""
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{x1.shape[axis]} and {x2.shape[axis]} dimensional instead."
        )
    x1, x2 = promote(x1, x2)
    a, b = tf.unstack(x1, axis=axis), tf.unstack(x2, axis=axis)
    parts = [a[j] * b[k] - a[k] * b[j] for j, k in ((1, 2), (2, 0), (0, 1))]
    return tf.stack(parts, axis=axis)


def _move_axis(x: tf.Tensor, source: int, destination: int) -> tf.Tensor:
    """Return a tensor with one axis moved."""
    rank = rank_of(x)
    source = normalize_axis_index(source, rank)
    order = [k for k in range(rank) if k != source]
    order.insert(destination % rank, source)
    return permute_axes(x, order)


@op(np.linalg.matmul)
def matmul(x1: Array, x2: Array, /) -> tf.Tensor:
    """Return the products of matrices, ``x1 @ x2``."""
    return UFUNCS[np.matmul].compute((x1, x2))


@op(np.linalg.vecdot)
def vecdot(x1: Array, x2: Array, /, *, axis: Int = -1) -> tf.Tensor:
    """Return the inner products of vectors, with the first operand conjugated."""
    x1, x2 = promote(x1, x2)
    return vector_product(_move_axis(x1, axis, -1), _move_axis(x2, axis, -1))


@op(np.linalg.tensordot)
def tensordot(x1: Array, x2: Array, /, *, axes: Any = 2) -> ndarray:
    """Return the sums of products over pairs of axes."""
    return tensor_array(contract_axes(x1, x2, axes))


def _best_splits(sizes: list[int]) -> list[list[int]]:
    """Return where to split each chain i..j of matrices so that the product takes the fewest operations.

    Matrix i has the shape (sizes[i], sizes[i + 1]). This is the textbook dynamic programme (Cormen et al.,
    ch. 15.2).
    """
    count = len(sizes) - 1
    cost = [[0] * count for _ in range(count)]
    splits = [[0] * count for _ in range(count)]
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i][j], splits[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return splits


@op(np.linalg.multi_dot)
def multi_dot(arrays: Operands, *, out: Any = None) -> tf.Tensor:
    """Return the product of a chain of matrices, computed in the cheapest order."""
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    chain = list(promote(*arrays))
    first, last = rank_of(chain[0]), rank_of(chain[-1])
    if first == 1:
        chain[0] = chain[0][None, :]
    if last == 1:
        chain[-1] = chain[-1][:, None]
    for matrix in chain:
        if rank_of(matrix) != 2:
            raise LinAlgError(f"{rank_of(matrix)}-dimensional array given. Array must be two-dimensional")
    sizes = [chain[0].shape[0] or 1, *(matrix.shape[1] or 1 for matrix in chain)]
    splits = _best_splits(sizes)

    def product(i: int, j: int) -> tf.Tensor:
        return chain[i] if i == j else matrix_product(product(i, splits[i][j]), product(splits[i][j] + 1, j))

    result = product(0, len(chain) - 1)
    if first == 1:
        result = result[0]
    return result[..., 0] if last == 1 else result
