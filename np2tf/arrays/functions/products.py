"""Products of arrays: dot, inner, outer, tensordot, kron, cross, convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import nn_ops

from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.dispatch.op import Array, DType, Int, Operand, OptionalInt, op
from np2tf.arrays.functions.parts import diagonal
from np2tf.arrays.functions.ufuncs.matrix import matmul
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS
from np2tf.arrays.operands.axes import (
    length,
    lengths_of,
    normalize_axis,
    permute_axes,
    product_of,
    rank_of,
    slice_along,
)
from np2tf.arrays.operands.conversion import as_tensor, cast, promote
from np2tf.arrays.operands.promotion import result_type
from np2tf.arrays.tensors.axis_reductions import reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX
from np2tf.arrays.tensors.storage import current_scope, staging_for_xla
from np2tf.arrays.tensors.violations import assert_same_size, record_violation
from np2tf.core.errors import ShapeNeededError

__all__ = [
    "convolve",
    "correlate",
    "cross",
    "dot",
    "inner",
    "kron",
    "outer",
    "tensordot",
    "trace",
    "vdot",
]


# -- dot -----------------------------------------------------------------------------------------------------
# Products of arrays: dot, inner, outer, tensordot, kron; and sums along diagonals.


def contract(a: tf.Tensor, b: tf.Tensor, axes_a: Sequence[int], axes_b: Sequence[int]) -> tf.Tensor:
    """Return the sum of products over pairs of axes, as one product of matrices of the same dtype."""
    for i, j in zip(axes_a, axes_b):
        a = assert_same_size(a, i, b, j)
    free_a = [k for k in range(rank_of(a)) if k not in axes_a]
    free_b = [k for k in range(rank_of(b)) if k not in axes_b]
    inner_size = product_of(lengths_of(a, axes_a))
    rows, columns = lengths_of(a, free_a), lengths_of(b, free_b)
    left = tf.reshape(permute_axes(a, [*free_a, *axes_a]), [product_of(rows), inner_size])
    right = tf.reshape(permute_axes(b, [*axes_b, *free_b]), [inner_size, product_of(columns)])
    return tf.reshape(matmul(left, right), [*rows, *columns])


def multiply(a: Any, b: Any) -> tf.Tensor:
    """Return the elementwise product with NumPy's promotion."""
    return UFUNCS[np.multiply].compute((a, b))


def _check_aligned(a: tf.Tensor, b: tf.Tensor, axis_a: int, axis_b: int) -> None:
    size_a, size_b = a.shape[axis_a], b.shape[axis_b]
    if size_a is not None and size_b is not None and size_a != size_b:
        raise ValueError(
            f"shapes {tuple(a.shape)} and {tuple(b.shape)} not aligned: "
            f"{size_a} (dim {axis_a}) != {size_b} (dim {axis_b})"
        )


@op(np.dot, method=True)
def dot(a: Array, b: Array, out: Any = None) -> tf.Tensor:
    """Return the sums of products over the last axis of `a` and the last but one axis of `b`."""
    rank_a, rank_b = rank_of(a), rank_of(b)
    if rank_a == 0 or rank_b == 0:
        return multiply(a, b)
    a, b = promote(a, b)
    axis_b = max(rank_b - 2, 0)
    _check_aligned(a, b, rank_a - 1, axis_b)
    if rank_a <= 2 and rank_b <= 2:
        return matmul(a, b)
    return contract(a, b, [rank_a - 1], [axis_b])


@op(np.vdot)
def vdot(a: Array, b: Array, /) -> tf.Tensor:
    """Return the inner product of two flattened arrays, with the first array conjugated."""
    a, b = promote(tf.reshape(a, [-1]), tf.reshape(b, [-1]))
    if a.shape.is_fully_defined() and b.shape.is_fully_defined() and a.shape != b.shape:
        raise ValueError("vectors have different lengths")
    return matmul(tf.math.conj(a) if a.dtype.is_complex else a, b)


@op(np.inner)
def inner(a: Array, b: Array, /) -> tf.Tensor:
    """Return the sums of products over the last axes."""
    if rank_of(a) == 0 or rank_of(b) == 0:
        return multiply(a, b)
    a, b = promote(a, b)
    _check_aligned(a, b, rank_of(a) - 1, rank_of(b) - 1)
    return contract(a, b, [rank_of(a) - 1], [rank_of(b) - 1])


@op(np.outer)
def outer(a: Array, b: Array, out: Any = None) -> tf.Tensor:
    """Return the products of all pairs of elements of two flattened arrays."""
    return multiply(tf.reshape(a, [-1, 1]), tf.reshape(b, [1, -1]))


def _pairs(axes: Any, rank_a: int) -> tuple[list[int], list[int]]:
    if np.ndim(axes) == 0:
        count = int(axes)
        return list(range(-count, 0)), list(range(count))
    first, second = axes
    return list(np.atleast_1d(first)), list(np.atleast_1d(second))


def contract_axes(a: tf.Tensor, b: tf.Tensor, axes: Any) -> tf.Tensor:
    """``tensordot(a, b, axes)``."""
    a, b = promote(a, b)
    axes_a, axes_b = _pairs(axes, rank_of(a))
    if len(axes_a) != len(axes_b):
        raise ValueError("shape-mismatch for sum")
    if any(not -x.shape.rank <= k < x.shape.rank for x, ks in ((a, axes_a), (b, axes_b)) for k in ks):
        raise IndexError("tuple index out of range")
    axes_a, axes_b = [k % rank_of(a) for k in axes_a], [k % rank_of(b) for k in axes_b]
    for i, j in zip(axes_a, axes_b):
        if a.shape[i] is not None and b.shape[j] is not None and a.shape[i] != b.shape[j]:
            raise ValueError("shape-mismatch for sum")
    return contract(a, b, axes_a, axes_b)


@op(np.tensordot)
def tensordot(a: Array, b: Array, axes: Any = 2) -> ndarray:
    """Return the sums of products over pairs of axes."""
    return tensor_array(contract_axes(a, b, axes))


def summed_dtype(dtype: Any) -> Any:
    """Return the dtype in which NumPy sums elements of `dtype`."""
    return np.add.reduce(np.empty(0, dtype)).dtype


def diagonal_sum(a: tf.Tensor, offset: int, dtype: Any) -> tf.Tensor:
    """Return the sums along the diagonals of the last two axes."""
    rows, columns = a.shape[-2], a.shape[-1]
    result_dtype = dtype if dtype is not None else summed_dtype(a.dtype.as_numpy_dtype)
    if rows is not None and columns is not None and not -rows < offset < columns:
        return tf.zeros(lengths_of(a, range(rank_of(a) - 2)), result_dtype)
    return reduce_sum(cast(tf.linalg.diag_part(a, k=offset), result_dtype), -1)


@op(np.kron)
def kron(a: Operand, b: Operand) -> Any:
    """Return the Kronecker product of two arrays."""
    left, right = promote(a, b)
    rank = max(left.shape.rank, right.shape.rank)
    left = left[(None,) * (rank - left.shape.rank) + (...,)]
    right = right[(None,) * (rank - right.shape.rank) + (...,)]
    outer = left[tuple(slice(None) if k % 2 == 0 else None for k in range(2 * rank))]
    product = outer * right[tuple(None if k % 2 == 0 else slice(None) for k in range(2 * rank))]
    if left.shape.is_fully_defined() and right.shape.is_fully_defined():
        shape: Any = [n * m for n, m in zip(left.shape.as_list(), right.shape.as_list(), strict=True)]
    else:
        shape = tf.shape(left, tf.int64) * tf.shape(right, tf.int64)
    return tf.reshape(product, shape)


@op(np.trace, method=True)
def trace(a: Array, offset: Int = 0, axis1: Int = 0, axis2: Int = 1, dtype: DType = None) -> tf.Tensor:
    """Return sums along diagonals."""
    diagonals = diagonal(tensor_array(a), offset, axis1, axis2).tensor
    if dtype is None:
        dtype = np.add.reduce(np.empty(1, diagonals.dtype.as_numpy_dtype)).dtype
    return reduce_sum(cast(diagonals, dtype), -1)


# -- cross ---------------------------------------------------------------------------------------------------
# The cross product.


def _components(x: tf.Tensor, axis: int) -> list[tf.Tensor]:
    along = normalize_axis(axis, rank_of(x))
    if x.shape[along] is None and current_scope() is None:
        count = tf.shape(x)[along]
        record_violation((count < 2) | (count > 3))
        vectors = tf.pad(x, [[0, int(k == along)] for k in range(rank_of(x))])
        return tf.unstack(slice_along(vectors, along, 0, 3), 3, axis=along)
    if x.shape[along] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    return tf.unstack(x, axis=along)


@op(np.cross)
def cross(
    a: Array, b: Array, axisa: Int = -1, axisb: Int = -1, axisc: Int = -1, axis: OptionalInt = None
) -> tf.Tensor:
    """Return the cross products of vectors."""
    if axis is not None:
        axisa = axisb = axisc = axis
    if rank_of(a) == 0 or rank_of(b) == 0:
        raise ValueError("At least one array has zero dimension")
    a, b = promote(a, b)
    first, second = _components(a, axisa), _components(b, axisb)
    if len(first) == len(second) == 2:
        return first[0] * second[1] - first[1] * second[0]
    zero = tf.zeros((), a.dtype)
    (a0, a1, a2), (b0, b1, b2) = ((*v, zero) if len(v) == 2 else v for v in (first, second))
    parts = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    product = tf.stack(parts, normalize_axis(axisc, max(rank_of(part) for part in parts) + 1))
    if 3 in (a.shape[axisa], b.shape[axisb]):
        return product
    both_flat = (tf.shape(a)[axisa] == 2) & (tf.shape(b)[axisb] == 2)
    return tf.cond(both_flat, lambda: parts[2], lambda: product)


# -- convolution ---------------------------------------------------------------------------------------------
# Convolutions and correlations of rows.

#: Up to this length of the shorter operand, and for dtypes without a convolution, windows are multiplied out.
_SHORT = 16


def _row(x: tf.Tensor, name: str, why: str) -> tf.Tensor:
    if rank_of(x) > 1:
        raise ValueError("object too deep for desired array")
    x = tf.reshape(x, (-1,)) if rank_of(x) == 0 else x
    if x.shape[0] is None:
        if staging_for_xla():
            raise ShapeNeededError(f"{name} of a row of unknown length")
        record_violation(tf.equal(tf.size(x), 0))
    if x.shape[0] == 0:
        raise ValueError(why)
    return x


def _by_length(a: tf.Tensor, v: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, Any]:
    """Return the longer and the shorter row, and whether the longer row is `v`: a boolean, or a tensor if it
    is known only at run time.
    """
    n, m = length(a, (0,)), length(v, (0,))
    is_exchanged = m > n
    if not isinstance(is_exchanged, tf.Tensor):
        return (v, a, True) if is_exchanged else (a, v, False)
    # Slices of the concatenated rows need no branches.
    rows = tf.concat([a, v], 0)
    start = tf.where(is_exchanged, n, tf.zeros((), tf.int64))
    longer = tf.slice(rows, [start], [tf.maximum(n, m)])
    return longer, tf.slice(rows, [n - start], [tf.minimum(n, m)]), is_exchanged


def _slide(a: tf.Tensor, v: tf.Tensor, mode: Any) -> tf.Tensor:
    """Return the inner products of v with the elements of a under it, as v slides along a.

    `v` is not longer than `a`.
    """
    n, m = length(a, (0,)), length(v, (0,))
    left: Any = {"valid": 0, "same": m // 2, "full": m - 1}.get(mode)
    if left is None:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    right = {"valid": 0, "same": m - m // 2 - 1, "full": m - 1}[mode]
    signal = tf.pad(a, [[left, right]])
    outputs = n + left + right - m + 1
    is_known = isinstance(m, int)
    if (not is_known or m > _SHORT) and a.dtype in (tf.float32, tf.float64):
        return nn_ops.conv1d_v2(signal[None, :, None], v[:, None, None], 1, "VALID")[0, :, 0]
    places = np.arange if is_known else tf.range
    windows = tf.gather(signal, places(outputs)[:, None] + places(m))
    return tf.reshape(matmul(windows, v), (outputs,))


def _promote_pair(a: tf.Tensor, v: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    dtype = result_type(a, v)
    return as_tensor(a, dtype), as_tensor(v, dtype)


def _refuse_number(x: tf.Tensor) -> None:
    if rank_of(x) == 0:
        raise ValueError("object of too small depth for desired array")


@op(np.correlate)
def correlate(a: Array, v: Array, mode: str = "valid") -> tf.Tensor:
    """Return the cross-correlation of two sequences."""
    _refuse_number(a)
    _refuse_number(v)
    a = _row(a, "correlate", "first array argument cannot be empty")
    v = _row(v, "correlate", "second array argument cannot be empty")
    a, v = _promote_pair(a, v)
    v = tf.math.conj(v) if v.dtype in COMPLEX else v
    longer, shorter, is_exchanged = _by_length(a, v)
    products = _slide(longer, shorter, mode)
    if isinstance(is_exchanged, tf.Tensor):
        return tf.where(is_exchanged, tf.reverse(products, [0]), products)
    return tf.reverse(products, [0]) if is_exchanged else products


@op(np.convolve)
def convolve(a: Array, v: Array, mode: str = "full") -> tf.Tensor:
    """Return the convolution of two sequences."""
    a, v = _row(a, "convolve", "a cannot be empty"), _row(v, "convolve", "v cannot be empty")
    a, v = _promote_pair(a, v)
    longer, shorter, _ = _by_length(a, v)
    return _slide(longer, tf.reverse(shorter, [0]), mode)
