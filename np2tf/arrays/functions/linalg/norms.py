"""Norms of vectors and matrices, condition numbers, ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple
from numpy.linalg import LinAlgError

from np2tf.arrays.dispatch.op import Array, op
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.functions.linalg.checks import as_floating, epsilon, matrix, require_square, square
from np2tf.arrays.functions.linalg.factorizations import singular_values
from np2tf.arrays.functions.reduction_kernels import raw_sum
from np2tf.arrays.operands.axes import lengths_of, permute_axes, product_of, rank_of
from np2tf.arrays.operands.conversion import as_tensor, cast
from np2tf.arrays.operands.numpy_warnings import warn_arithmetic
from np2tf.arrays.tensors.axis_reductions import reduce_any, reduce_max, reduce_min, reduce_sum

__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]

_INFINITE = (np.inf, -np.inf)


def _inexact(x: tf.Tensor) -> tf.Tensor:
    """Return numbers as floats or complex numbers."""
    return x if x.dtype.is_floating or x.dtype.is_complex else cast(x, np.float64)


def _squares(x: tf.Tensor) -> tf.Tensor:
    """Return the squares of absolute values."""
    if x.dtype.is_complex:
        return tf.square(tf.math.real(x)) + tf.square(tf.math.imag(x))
    return tf.square(x)


def _sum(x: tf.Tensor, axes: Any, keepdims: bool) -> tf.Tensor:
    """Return the sum over axes; None is all of them."""
    return raw_sum(x, normalize_axis_tuple(range(rank_of(x)) if axes is None else axes, rank_of(x)), keepdims)


def _root_of_squares(x: tf.Tensor, axes: Any, keepdims: bool) -> tf.Tensor:
    """Return the root of the sum of squares over axes."""
    return tf.sqrt(_sum(_squares(x), axes, keepdims))


def _greatest(x: tf.Tensor, axis: Any, keepdims: bool) -> tf.Tensor:
    """Return the maximum of numbers that are not negative: 0 of no numbers, NaN if a number is NaN."""
    if NUMPY < (2, 3):
        _refuse_empty(x, axis)
    return tf.maximum(_extreme(reduce_max, x, axis, keepdims), tf.zeros((), x.dtype))


def _refuse_empty(x: tf.Tensor, axis: Any) -> None:
    """Refuse a maximum over an empty axis, as NumPy does without a least value to begin with."""
    axes = {k % len(x.shape) for k in (axis if isinstance(axis, (list, tuple)) else (axis,))}
    empty = any(x.shape[k] == 0 for k in axes)
    if empty and all(length != 0 for k, length in enumerate(x.shape) if k not in axes):
        raise ValueError("zero-size array to reduction operation maximum which has no identity")


def _extreme(function: Callable[..., tf.Tensor], x: tf.Tensor, axis: Any, keepdims: bool) -> tf.Tensor:
    """Return the maximum or minimum over axes; NaN if a number is NaN."""
    # Adding 0 * sum would lose infinities. If an element is NaN, the result is NaN.
    result = function(x, axis, keepdims)
    has_nan = reduce_any(tf.math.is_nan(x), axis, keepdims)
    return tf.where(has_nan, tf.constant(np.nan, x.dtype), result)


def norm_of_vectors(x: tf.Tensor, order: Any, axis: int, keepdims: bool) -> tf.Tensor:
    """Return the norms along one axis."""
    if order is None or order == 2:
        return _root_of_squares(x, axis, keepdims)
    if isinstance(order, str):
        raise ValueError(f"Invalid norm order '{order}' for vectors")
    sizes = tf.abs(x)
    if order == np.inf:
        return _greatest(sizes, axis, keepdims)
    if order == -np.inf:
        if x.shape[axis] == 0:
            raise ValueError("zero-size array to reduction operation minimum which has no identity")
        return _extreme(reduce_min, sizes, axis, keepdims)
    if order == 0:
        return _sum(tf.cast(tf.not_equal(x, tf.zeros((), x.dtype)), sizes.dtype), axis, keepdims)
    if order == 1:
        return _sum(sizes, axis, keepdims)
    power = as_tensor(order, sizes.dtype.as_numpy_dtype)
    if order < 0:
        warn_arithmetic("divide", reduce_any(tf.equal(sizes, 0)) | (tf.size(sizes) == 0), "power")
    return tf.pow(_sum(tf.pow(sizes, power), axis, keepdims), 1 / power)


def _norm_of_columns(x: tf.Tensor, order: Any, sum_axis: int, compared_axis: int) -> tf.Tensor:
    """Return the largest or smallest sum of absolute values along one axis of matrices."""
    sums = reduce_sum(tf.abs(x), sum_axis, keepdims=True)
    if order > 0:
        return _greatest(sums, (sum_axis, compared_axis), False)
    if sums.shape[compared_axis] == 0:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return _extreme(reduce_min, sums, (sum_axis, compared_axis), False)


def norm_of_matrices(x: tf.Tensor, order: Any, rows: int, columns: int) -> tf.Tensor:
    """Return the norms of the matrices in two axes of `x`, without these axes."""
    if order is None or order in ("fro", "f"):
        return _root_of_squares(x, (rows, columns), False)
    if order in (1, -1):
        return _norm_of_columns(x, order, rows, columns)
    if order in _INFINITE:
        return _norm_of_columns(x, order, columns, rows)
    if order not in (2, -2, "nuc"):
        raise ValueError("Invalid norm order for matrices.")
    outer_axes = [k for k in range(rank_of(x)) if k not in (rows, columns)]
    values = singular_values(as_floating(permute_axes(x, [*outer_axes, rows, columns]))[0])
    if order == "nuc":
        return reduce_sum(values, -1)
    return _greatest(values, -1, False) if order == 2 else reduce_min(values, -1)


def _axes(axis: Any, rank: int) -> tuple[int, ...]:
    """Return the axes that an argument names: None, an integer or a tuple of integers."""
    if axis is None:
        return tuple(range(rank))
    if isinstance(axis, (tuple, list)):
        return tuple(axis)
    try:
        return (int(axis),)
    except (TypeError, ValueError) as error:
        raise TypeError("'axis' must be None, an integer or a tuple of integers") from error


@op(np.linalg.norm)
def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> tf.Tensor:
    """Return the norms of vectors or matrices.

    Without order and axis, all elements count as one vector.
    """
    x = _inexact(x)
    rank = rank_of(x)
    flat = (
        ord is None
        or (isinstance(ord, str) and ord in ("f", "fro") and rank == 2)
        or (ord == 2 and rank == 1)
    )
    if axis is None and flat:
        return _root_of_squares(x, None, keepdims)
    axes = _axes(axis, rank)
    if len(axes) == 1:
        return norm_of_vectors(x, ord, normalize_axis_index(axes[0], rank), keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    rows, columns = (normalize_axis_index(k, rank) for k in axes)
    if rows == columns:
        raise ValueError("Duplicate axes given.")
    result = norm_of_matrices(x, ord, rows, columns)
    return _restore_axes(result, x, (rows, columns)) if keepdims else result


def _restore_axes(result: tf.Tensor, x: tf.Tensor, axes: tuple[int, ...]) -> tf.Tensor:
    """Return `result` with reduced axes of length 1."""
    shape = [1 if k in axes else size for k, size in enumerate(lengths_of(x, range(rank_of(x))))]
    return tf.reshape(result, shape)


@op(np.linalg.vector_norm)
def vector_norm(x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> tf.Tensor:
    """Return the norms of vectors."""
    x = _inexact(x)
    axes = normalize_axis_tuple(range(rank_of(x)) if axis is None else axis, rank_of(x))
    outer_axes = [k for k in range(rank_of(x)) if k not in axes]
    outer = lengths_of(x, outer_axes)
    flat = tf.reshape(permute_axes(x, [*axes, *outer_axes]), [product_of(lengths_of(x, axes)), *outer])
    result = norm_of_vectors(flat, ord, 0, False)
    return _restore_axes(result, x, axes) if keepdims else result


@op(np.linalg.matrix_norm)
def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> tf.Tensor:
    """Return the norms of the matrices in the last two axes."""
    x = _inexact(x)
    axes = (rank_of(x) - 2, rank_of(x) - 1)
    result = norm_of_matrices(x, ord, *axes)
    return _restore_axes(result, x, axes) if keepdims else result


@op(np.linalg.cond)
def cond(x: Array, p: Any = None) -> tf.Tensor:
    """Return the condition numbers of matrices."""
    if 0 in x.shape:
        raise LinAlgError("cond is not defined on empty arrays")
    if p is None or p in (2, -2):
        x = matrix(x)
        values = singular_values(x)
        first, last = values[..., 0], values[..., -1]
        result = last / first if p == -2 else first / last
    else:
        require_square(x)
        x = square(x)
        axes = (rank_of(x) - 2, rank_of(x) - 1)
        result = norm_of_matrices(x, p, *axes) * norm_of_matrices(tf.linalg.inv(x), p, *axes)
    has_nan = reduce_any(tf.math.is_nan(tf.abs(x)), (-2, -1))
    return tf.where(tf.math.is_nan(result) & ~has_nan, tf.constant(np.inf, result.dtype), result)


@op(np.linalg.matrix_rank)
def matrix_rank(A: Array, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> tf.Tensor:
    """Return the ranks of matrices: the numbers of singular values above a tolerance."""
    if rtol is not None and tol is not None:
        raise ValueError("`tol` and `rtol` can't be both set.")
    if rank_of(A) < 2:
        return tf.cast(reduce_any(tf.not_equal(A, tf.zeros((), A.dtype))), tf.int64)
    a = square(A) if hermitian else matrix(A)
    values = singular_values(a, hermitian)
    if tol is None:
        if rtol is None:
            rtol = tf.cast(
                max(lengths_of(a, [rank_of(a) - 2, rank_of(a) - 1])) * epsilon(values), values.dtype
            )
        relative = as_tensor(rtol, values.dtype.as_numpy_dtype)[..., None]
        if NUMPY < (2, 4):
            _refuse_empty(values, -1)
        limit = reduce_max(values, -1, keepdims=True) * relative
    else:
        limit = as_tensor(tol, values.dtype.as_numpy_dtype)[..., None]
    return reduce_sum(tf.cast(values > limit, tf.int64), -1)
