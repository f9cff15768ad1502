"""Products of arrays: dot, inner, outer, tensordot, kron; and sums along diagonals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.tnp._array.ndarray import ndarray, tensor_array
from np2tf.tnp._chapters.manipulation.views.parts import diagonal
from np2tf.tnp._dispatch.argument_types import Array, DType, Int, Operand
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axes import lengths_of, permute_axes, product_of
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import cast, promote
from np2tf.tnp._tensor.reductions_of_axes import reduce_sum
from np2tf.tnp._tensor.size_guards import assert_same_size
from np2tf.tnp._ufuncs.matrix import matmul
from np2tf.tnp._ufuncs.tensor_ufunc import UFUNCS

__all__ = ["dot", "inner", "kron", "outer", "tensordot", "trace", "vdot"]


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
    """Return the sums of products over the last axis of `a` and the last but one axis of `b`.

    Args:
        a: array of numbers.
        b: array of numbers.
        out: array to write the result into; None makes a new array.

    Returns:
        An array of the common dtype, with the other axes of `a` and then of `b`.

    Raises:
        ValueError: the lengths of the axes differ.

    See https://numpy.org/doc/stable/reference/generated/numpy.dot.html.
    """
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
    """Return the inner product of two flattened arrays, with the first array conjugated.

    Args:
        a: array of numbers.
        b: array of numbers with as many elements.

    Returns:
        A number of the common dtype.

    Raises:
        ValueError: the numbers of elements differ.

    See https://numpy.org/doc/stable/reference/generated/numpy.vdot.html.
    """
    a, b = promote(tf.reshape(a, [-1]), tf.reshape(b, [-1]))
    if a.shape.is_fully_defined() and b.shape.is_fully_defined() and a.shape != b.shape:
        raise ValueError("vectors have different lengths")
    return matmul(tf.math.conj(a) if a.dtype.is_complex else a, b)


@op(np.inner)
def inner(a: Array, b: Array, /) -> tf.Tensor:
    """Return the sums of products over the last axes.

    Args:
        a: array of numbers.
        b: array of numbers.

    Returns:
        An array of the common dtype, with the other axes of `a` and then of `b`.

    Raises:
        ValueError: the lengths of the last axes differ.

    See https://numpy.org/doc/stable/reference/generated/numpy.inner.html.
    """
    if rank_of(a) == 0 or rank_of(b) == 0:
        return multiply(a, b)
    a, b = promote(a, b)
    _check_aligned(a, b, rank_of(a) - 1, rank_of(b) - 1)
    return contract(a, b, [rank_of(a) - 1], [rank_of(b) - 1])


@op(np.outer)
def outer(a: Array, b: Array, out: Any = None) -> tf.Tensor:
    """Return the products of all pairs of elements of two flattened arrays.

    Args:
        a: array of numbers with n elements.
        b: array of numbers with m elements.
        out: array to write the result into; None makes a new array.

    Returns:
        An array (n, m).

    See https://numpy.org/doc/stable/reference/generated/numpy.outer.html.
    """
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
    """Return the sums of products over pairs of axes.

    Args:
        a: array of numbers.
        b: array of numbers.
        axes: the number of last axes of `a` and first axes of `b`, or a pair of sequences of axes.

    Returns:
        An array of the common dtype, with the other axes of `a` and then of `b`.

    Raises:
        ValueError: the lengths of the axes differ.
        IndexError: there is no such axis.

    See https://numpy.org/doc/stable/reference/generated/numpy.tensordot.html.
    """
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
    """Return the Kronecker product of two arrays.

    Args:
        a: array of numbers.
        b: array of numbers.

    Returns:
        An array of the common dtype whose lengths are the products of the operands' lengths.

    See https://numpy.org/doc/stable/reference/generated/numpy.kron.html.
    """
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
    """Return sums along diagonals.

    Args:
        a: array of numbers with at least two axes.
        offset: the diagonal: 0 is the main diagonal, positive numbers lie above it.
        axis1: the first axis of the matrices.
        axis2: the second axis of the matrices.
        dtype: the dtype of the result; None is NumPy's choice.

    Returns:
        An array of numbers in the shape of `a` without the two axes.

    Raises:
        ValueError: `a` has fewer than two axes, or both axes are the same.

    See https://numpy.org/doc/stable/reference/generated/numpy.trace.html.
    """
    diagonals = diagonal(tensor_array(a), offset, axis1, axis2).tensor
    if dtype is None:
        dtype = np.add.reduce(np.empty(1, diagonals.dtype.as_numpy_dtype)).dtype
    return reduce_sum(cast(diagonals, dtype), -1)
