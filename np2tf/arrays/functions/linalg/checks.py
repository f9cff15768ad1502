"""Check the operands of numpy.linalg: floating dtypes, matrices, square matrices."""

from __future__ import annotations

import numpy as np
import tensorflow as tf
from numpy.linalg import LinAlgError

from np2tf.arrays.front.flags import uses_numpy_rules
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import cast
from np2tf.arrays.operands.promotion import inexact_type, result_type
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any, reduce_max, reduce_min
from np2tf.arrays.tensors.storage import staging_handlers
from np2tf.arrays.tensors.violations import record_violation, refuse_where


def as_floating(*operands: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """Return the operands in the dtype in which numpy.linalg computes: integers become float64.

    Raises:
        TypeError: an operand is float16 or bfloat16, which numpy.linalg does not accept.
    """
    for operand in operands:
        if operand.dtype in (tf.float16, tf.bfloat16):
            raise TypeError(f"array type {operand.dtype.name} is unsupported in linalg")
    if uses_numpy_rules():
        integers = [operand.dtype.is_integer or operand.dtype == tf.bool for operand in operands]
        dtype = result_type(
            *(np.empty(0) if is_integer else x for is_integer, x in zip(integers, operands, strict=True))
        )
    else:
        dtype = inexact_type(*operands)
    return tuple(cast(operand, dtype) for operand in operands)


def matrix(a: tf.Tensor) -> tf.Tensor:
    """Return `a`, a stack of matrices, in a floating dtype."""
    if rank_of(a) < 2:
        raise LinAlgError(f"{rank_of(a)}-dimensional array given. Array must be at least two-dimensional")
    return as_floating(a)[0]


def discard_if_nearly_singular(a: tf.Tensor, pivots: tf.Tensor | None = None) -> None:
    """If the staged code handles exceptions, discard a call with nearly singular matrices, so that NumPy
    decides.

    The last digit may decide whether such a matrix is singular.
    """
    if staging_handlers():
        discard_if_small(tf.linalg.diag_part(tf.linalg.lu(a)[0]) if pivots is None else pivots)


def discard_if_small(pivots: tf.Tensor) -> None:
    """Discard the call if a matrix with these pivots (..., n) is singular or nearly singular."""
    sizes = tf.abs(pivots)
    limit = 100 * (sizes.shape[-1] or 1) * np.finfo(sizes.dtype.as_numpy_dtype).eps
    is_small = reduce_min(sizes, -1) <= tf.cast(limit, sizes.dtype) * reduce_max(sizes, -1)
    record_violation(reduce_any(is_small))


def require_finite(a: tf.Tensor) -> None:
    """Check that the operand of a singular value decomposition is finite, as far as it is known."""
    size = tf.abs(a)
    is_nonfinite = tf.logical_not(reduce_all(tf.math.is_finite(size)))
    refuse_where(is_nonfinite, LinAlgError("SVD did not converge"))


def require_square(a: tf.Tensor) -> None:
    """Check that `a` is a stack of square matrices."""
    if rank_of(a) < 2:
        raise LinAlgError(f"{rank_of(a)}-dimensional array given. Array must be at least two-dimensional")
    rows, columns = a.shape[-2], a.shape[-1]
    if rows is not None and columns is not None and rows != columns:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def square(a: tf.Tensor) -> tf.Tensor:
    """Return `a`, a stack of square matrices, in a floating dtype."""
    require_square(a)
    return as_floating(a)[0]


def real_dtype(x: tf.Tensor) -> tf.DType:
    """Return the dtype of the parts of a complex tensor, or the dtype of a real tensor."""
    return x.dtype.real_dtype


def epsilon(x: tf.Tensor) -> float:
    """Return the distance from 1 to the next number of x's dtype."""
    return float(np.finfo(x.dtype.as_numpy_dtype).eps)


def scale_by(x: tf.Tensor, factors: tf.Tensor) -> tf.Tensor:
    """Return `x` times real factors."""
    return x * tf.cast(factors, x.dtype)
