"""polyfit: fits a polynomial to points by least squares."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import tensorflow as tf
from numpy.exceptions import RankWarning

from np2tf.arrays.dispatch.op import Array, Int, OptionalArray, op
from np2tf.arrays.functions.linalg.solving import least_squares
from np2tf.arrays.functions.ufuncs.matrix import matmul
from np2tf.arrays.operands.axes import rank_of
from np2tf.arrays.operands.conversion import cast
from np2tf.arrays.tensors.axis_reductions import reduce_sum
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = ["polyfit"]


def _check(x: tf.Tensor, y: tf.Tensor, w: tf.Tensor | None, deg: int) -> None:
    """Check the operands of polyfit."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if rank_of(x) != 1:
        raise TypeError("expected 1D vector for x")
    if x.shape[0] is None:
        raise ShapeNeededError.of(what="the number of points")
    if x.shape[0] == 0:
        raise TypeError("expected non-empty vector for x")
    if not 1 <= rank_of(y) <= 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    if w is not None and rank_of(w) != 1:
        raise TypeError("expected a 1-d array for weights")
    if w is not None and w.shape[0] != y.shape[0]:
        raise TypeError("expected w and y to have the same length")


def _real(x: tf.Tensor) -> tf.Tensor:
    """Return `x` as NumPy's ``x + 0.0`` does: integers become float64."""
    if x.dtype.is_complex or x.dtype == tf.float16:
        raise NoGraphFormError(f"polyfit of {x.dtype.name}")
    return x if x.dtype.is_floating else cast(x, np.float64)


@op(np.polyfit)
def polyfit(
    x: Array,
    y: Array,
    deg: Int,
    rcond: Any = None,
    full: bool = False,
    w: OptionalArray = None,
    cov: Any = False,
) -> Any:
    """Return the coefficients of the polynomial that fits points best."""
    _check(x, y, w, deg)
    count = x.shape[0]
    rcond = count * np.finfo(_real(x).dtype.as_numpy_dtype).eps if rcond is None else rcond
    # NumPy computes powers of integers and of float32 in float64, and continues in float64.
    x, y = (cast(_real(part), np.float64) for part in (x, y))
    powers = tf.stack([x**k for k in range(deg, -1, -1)], axis=1)
    right = y if rank_of(y) == 2 else y[:, None]
    if w is not None:
        weights = cast(_real(w), np.float64)[:, None]
        powers, right = powers * weights, right * weights
    scale = tf.sqrt(reduce_sum(powers * powers, axis=0))
    powers = powers / scale
    solution, residuals, rank, values = least_squares(powers, right, rcond)
    coefficients = solution / scale[:, None]
    answer = coefficients if rank_of(y) == 2 else coefficients[:, 0]
    if full:
        return answer, residuals, rank, values, rcond
    if tf.executing_eagerly() and int(rank) != deg + 1:
        warnings.warn("Polyfit may be poorly conditioned", RankWarning, stacklevel=5)
    if not cov:
        return answer
    return answer, _covariance(powers, scale, residuals, count, rank_of(y), cov)


def _covariance(
    powers: tf.Tensor, scale: tf.Tensor, residuals: tf.Tensor, count: int, rank_y: int, cov: Any
) -> tf.Tensor:
    """Return the covariance matrix of the coefficients."""
    base = tf.linalg.inv(matmul(tf.transpose(powers), powers)) / (scale[:, None] * scale[None, :])
    if isinstance(cov, str) and cov == "unscaled":
        return base if rank_y == 1 else base[:, :, None]
    order = powers.shape[1]
    if count <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    factor = residuals / (count - order)
    return base * factor if rank_y == 1 else base[:, :, None] * factor
