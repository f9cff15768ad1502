"""Check operands of scipy.linalg, compute norms, and make matrices from vectors and blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.scipy.kernels.declare import native, refusal, require_finite
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import cast, promote
from np2tf.tnp._tensor.dtype_dispatch import gather_parts
from np2tf.tnp.linalg import norms
from np2tf.tnp.linalg.checks import as_floating


def computable(name: str, *operands: tf.Tensor, finite: Any = True) -> tuple[tf.Tensor, ...]:
    """Return the operands in the dtype in which LAPACK computes.

    Raises:
        StagingError: TensorFlow's functions lack the dtype, an operand is empty or of unknown size, or is not
            finite.
    """
    for operand in operands:
        if operand.dtype in (tf.float16, tf.bfloat16):
            raise refusal(f"{name} of {operand.dtype.name}")
        if operand.shape.num_elements() in (0, None):
            raise refusal(f"{name} of an array that is empty or of unknown size")
    tensors = as_floating(*operands)
    require_finite(name, finite, *tensors)
    return tensors


def a_matrix(name: str, a: tf.Tensor, square: bool = False, stacked: bool = False) -> None:
    """Check the shape of an operand.

    Args:
        name: the name of the function, for messages.
        a: the operand.
        square: whether the matrix must be square.
        stacked: whether a stack of matrices is allowed.

    Raises:
        StagingError: the operand is a stack of matrices, which only SciPy handles.
        ValueError: the operand is not a matrix, or is not square and must be.
    """
    if rank_of(a) > 2 and not stacked:
        raise refusal(f"{name} of a stack of matrices")
    if rank_of(a) < 2 or (square and a.shape[-1] != a.shape[-2]):
        raise ValueError(f"{name}: expected a {'square ' if square else ''}matrix")


@native("scipy.linalg.norm")
def norm(
    a: Array, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True
) -> tf.Tensor:
    """Return the norm of a vector or matrix, or the norms of the vectors or matrices in an array.

    Args:
        a: array of real or complex numbers.
        ord: the order of the norm, as for `numpy.linalg.norm`.
        axis: the axis of the vectors, or a pair of axes of the matrices; None is the whole of `a`.
        keepdims: whether the axes remain with length 1.
        check_finite: whether to leave operands with infinities or NaN to SciPy, which raises ValueError.

    Returns:
        An array of floats.

    Raises:
        ValueError: there is no such order.
        StagingError: `a` is of single precision and SciPy returns a Python number, or `a` is not finite.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.norm.html.
    """
    by_lapack = (1, float("inf")) if rank_of(a) == 2 else (None, 2) if rank_of(a) == 1 else ()
    if a.dtype in (tf.float32, tf.complex64) and ord in by_lapack and axis is None and not keepdims:
        raise refusal("norm in single precision, which SciPy returns as a Python number,")
    require_finite("norm", check_finite and (a.dtype.is_floating or a.dtype.is_complex), a)
    return norms.norm.__wrapped__(a, ord, axis, keepdims)  # type: ignore[attr-defined]


def _vector(name: str, c: tf.Tensor) -> tf.Tensor:
    """Return an operand after a check that it is a vector of known length."""
    if rank_of(c) != 1 or not c.shape[0]:
        raise refusal(f"{name} of an array that is not a vector of known length")
    return c


@native("scipy.linalg.toeplitz")
def toeplitz(c: Array, r: Any = None) -> tf.Tensor:
    """Return the matrix that is constant along its diagonals.

    Args:
        c: first column (m,).
        r: first row (n,), whose first element is ignored; None is the conjugate of `c`.

    Returns:
        An array (m, n) of the common dtype.

    Raises:
        StagingError: an operand is not a vector of known length.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.toeplitz.html.
    """
    column = _vector("toeplitz", c)
    if r is None:
        row = tf.math.conj(column) if column.dtype.is_complex else column
    else:
        column, row = promote(column, r)
        _vector("toeplitz", row)
    rows, columns = column.shape[0], row.shape[0]
    along = tf.concat([tf.reverse(column, [0]), row[1:]], 0)
    return gather_parts(along, rows - 1 - np.arange(rows)[:, None] + np.arange(columns), 0)


@native("scipy.linalg.hankel")
def hankel(c: Array, r: Any = None) -> tf.Tensor:
    """Return the matrix that is constant along its antidiagonals.

    Args:
        c: first column (m,).
        r: last row (n,), whose first element is ignored; None is zeros.

    Returns:
        An array (m, n) of the common dtype.

    Raises:
        StagingError: an operand is not a vector of known length.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.hankel.html.
    """
    column = _vector("hankel", c)
    if r is None:
        row = tf.zeros_like(column)
    else:
        column, row = promote(column, r)
        _vector("hankel", row)
    along = tf.concat([column, row[1:]], 0)
    return gather_parts(along, np.arange(column.shape[0])[:, None] + np.arange(row.shape[0]), 0)


@native("scipy.linalg.circulant")
def circulant(c: Array) -> tf.Tensor:
    """Return the matrix whose columns are the cyclic shifts of a vector.

    Args:
        c: array (n,) of any dtype.

    Returns:
        An array (n, n) of the same dtype.

    Raises:
        StagingError: `c` is not a vector of known length.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.circulant.html.
    """
    length = _vector("circulant", c).shape[0]
    return gather_parts(c, (np.arange(length)[:, None] - np.arange(length)) % length, 0)


@native("scipy.linalg.block_diag")
def block_diag(*arrs: Array) -> tf.Tensor:
    """Return a matrix with the given matrices along its diagonal, and zeros elsewhere.

    Args:
        *arrs: arrays with at most 2 axes; a number counts as (1, 1), a vector as (1, n).

    Returns:
        A matrix of the common dtype.

    Raises:
        StagingError: there are no matrices, or they are stacks or of unknown shapes.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.linalg.block_diag.html.
    """
    blocks = [
        tf.reshape(a, [1] * (2 - rank_of(a)) + a.shape.as_list()) if rank_of(a) < 2 else a for a in arrs
    ]
    if not blocks or any(rank_of(a) > 2 or not a.shape.is_fully_defined() for a in blocks):
        raise refusal("block_diag of stacks, or of matrices whose shapes are not known")
    dtype = np.result_type(*(a.dtype.as_numpy_dtype for a in blocks))
    columns, offset, rows = sum(a.shape[1] for a in blocks), 0, []
    for block in blocks:
        width = block.shape[1]
        rows.append(tf.pad(cast(block, dtype), [[0, 0], [offset, columns - offset - width]]))
        offset += width
    return tf.concat(rows, 0)
