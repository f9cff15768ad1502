"""Convolutions and correlations of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import ShapeNeededError
from np2tf.tnp._dispatch.argument_types import Array
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._operands.axis_arguments import length, rank_of
from np2tf.tnp._operands.conversion import as_tensor
from np2tf.tnp._operands.promotion import result_type
from np2tf.tnp._tensor.dtype_dispatch import COMPLEX
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._tensor.storage import staging_for_xla
from np2tf.tnp._ufuncs.matrix import matmul

__all__ = ["convolve", "correlate"]


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
        return tf.nn.conv1d(signal[None, :, None], v[:, None, None], 1, "VALID")[0, :, 0]
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
    """Return the cross-correlation of two sequences.

    Args:
        a: array (n,) of numbers.
        v: array (m,) of numbers.
        mode: "valid", "same" or "full".

    Returns:
        An array of one axis; with mode "full" of length n + m - 1.

    Raises:
        ValueError: an operand does not have one axis or is empty, or the mode is unknown.
        StagingError: code is staged for XLA, and a length is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.correlate.html.
    """
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
    """Return the convolution of two sequences.

    Args:
        a: array (n,) of numbers, or a number.
        v: array (m,) of numbers, or a number.
        mode: "full", "same" or "valid".

    Returns:
        An array of one axis; with mode "full" of length n + m - 1.

    Raises:
        ValueError: an operand has several axes or is empty, or the mode is unknown.
        StagingError: code is staged for XLA, and a length is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.convolve.html.
    """
    a, v = _row(a, "convolve", "a cannot be empty"), _row(v, "convolve", "v cannot be empty")
    a, v = _promote_pair(a, v)
    longer, shorter, _ = _by_length(a, v)
    return _slide(longer, tf.reverse(shorter, [0]), mode)
