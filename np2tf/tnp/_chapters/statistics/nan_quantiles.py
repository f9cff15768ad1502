"""Medians and quantiles of the elements that are not NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.staging import NoGraphFormError
from np2tf.tnp._chapters.statistics.quantiles import (
    interpolate,
    mean_of_two,
    median,
    quantile_fractions,
    quantiles_of_rows,
    refuse_empty,
    refuse_weights,
    restore_axes,
    rows_of,
    sort_rows,
)
from np2tf.tnp._dispatch.argument_types import Array, Axis
from np2tf.tnp._dispatch.op import op
from np2tf.tnp._front.promotion_mode import promote_in_any_mode
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.promotion import result_type_of
from np2tf.tnp._tensor.reductions_of_axes import reduce_sum
from np2tf.tnp._warnings.value_warnings import ALL_NAN, warn_where

__all__ = ["nanmedian", "nanpercentile", "nanquantile"]


def _sort_rows_without_nan(a: tf.Tensor, axis: Any) -> tuple[tf.Tensor, tf.Tensor, tuple[int, ...]]:
    """The rows sorted, the place of the last that is not NaN in each (-1 for none), and the reduced axes."""
    rows, axes, n = rows_of(a, axis)
    refuse_empty(n)
    sorted_rows, nan = sort_rows(rows)
    assert nan is not None
    last = reduce_sum(tf.cast(~nan, tf.int64), -1, keepdims=True) - 1
    warn_where(last < 0, ALL_NAN)
    return sorted_rows, last, axes


@promote_in_any_mode
def _quantiles_without_nan(
    a: tf.Tensor, fractions: np.ndarray, weak: bool, axis: Any, method: str, keepdims: Any
) -> tf.Tensor:
    """Return quantiles of the elements that are not NaN; their number may differ from row to row."""
    if not a.dtype.is_floating:
        return quantiles_of_rows(a, fractions, weak, axis, method, keepdims)
    if method != "linear":
        raise NoGraphFormError(f"quantiles without NaN by the method {method}")
    sorted_rows, last, axes = _sort_rows_without_nan(a, axis)
    fraction_dtype = fractions.dtype if fractions.dtype.kind == "f" else np.dtype(np.float64)
    flat = tf.constant(fractions.reshape(-1).astype(fraction_dtype))
    virtual = tf.cast(tf.maximum(last, 0), flat.dtype) * flat
    low = tf.cast(tf.floor(virtual), tf.int64)
    high = tf.minimum(low + 1, tf.maximum(last, 0))
    input_dtype = np.dtype(a.dtype.as_numpy_dtype)
    result_dtype = result_type_of((input_dtype, float if weak else fraction_dtype))
    lead = rank_of(sorted_rows) - 1
    result = interpolate(sorted_rows, low, high, virtual - tf.floor(virtual), result_dtype, lead)
    result = tf.where(last < 0, tf.constant(np.nan, result.dtype), result)
    result = tf.transpose(result, [rank_of(result) - 1, *range(rank_of(result) - 1)])
    result = (
        tf.reshape(result, tf.concat([fractions.shape, tf.shape(result)[1:]], 0))
        if fractions.ndim != 1
        else result
    )
    return restore_axes(result, rank_of(a), axes, keepdims, fractions.ndim)


@op(np.nanquantile)
def nanquantile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> tf.Tensor:
    """Return quantiles over axes of the elements that are not NaN.

    Args:
        a: array of real numbers.
        q: quantile or array of quantiles in [0, 1], known while staging.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        overwrite_input: ignored.
        method: the method of interpolation; with floats only "linear".
        keepdims: whether the reduced axes remain with length 1.
        weights: must be None.

    Returns:
        An array with the axes of `q` in front of the remaining axes; NaN where all elements are NaN.

    Raises:
        TypeError: the numbers are complex.
        ValueError: a quantile is out of range.
        StagingError: there are no numbers, only NumPy handles the method or the weights, or code is staged
            for XLA, and the length is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.nanquantile.html.
    """
    refuse_weights(weights)
    return _quantiles_without_nan(a, *quantile_fractions(q, 1), axis, method, keepdims)


@op(np.nanpercentile)
def nanpercentile(
    a: Array,
    q: Any,
    axis: Axis = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: Any = None,
) -> tf.Tensor:
    """Return percentiles over axes of the elements that are not NaN.

    Args:
        a: array of real numbers.
        q: percentile or array of percentiles in [0, 100], known while staging.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        overwrite_input: ignored.
        method: the method of interpolation; with floats only "linear".
        keepdims: whether the reduced axes remain with length 1.
        weights: must be None.

    Returns:
        An array with the axes of `q` in front of the remaining axes; NaN where all elements are NaN.

    Raises:
        TypeError: the numbers are complex.
        ValueError: a percentile is out of range.
        StagingError: there are no numbers, only NumPy handles the method or the weights, or code is staged
            for XLA, and the length is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.nanpercentile.html.
    """
    refuse_weights(weights)
    return _quantiles_without_nan(a, *quantile_fractions(q, 100), axis, method, keepdims)


@op(np.nanmedian)
def nanmedian(
    a: Array, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> tf.Tensor:
    """Return medians over axes of the elements that are not NaN.

    Args:
        a: array of real numbers.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        overwrite_input: ignored.
        keepdims: whether the reduced axes remain with length 1.

    Returns:
        An array of floats; NaN where all elements are NaN.

    Raises:
        StagingError: the numbers are complex, or there are none.

    See https://numpy.org/doc/stable/reference/generated/numpy.nanmedian.html.
    """
    if not a.dtype.is_floating:
        return median.__wrapped__(a, axis, None, False, keepdims)  # type: ignore[attr-defined]
    sorted_rows, last, axes = _sort_rows_without_nan(a, axis)
    last_place = tf.maximum(last, 0)
    low, high = (
        tf.squeeze(tf.gather(sorted_rows, place, batch_dims=rank_of(sorted_rows) - 1), -1)
        for place in (last_place // 2, (last_place + 1) // 2)
    )
    count_is_odd, is_empty = tf.squeeze(last_place % 2 == 0, -1), tf.squeeze(last < 0, -1)
    if tf.executing_eagerly():
        for _ in range(int(tf.math.count_nonzero(is_empty)) - 1):
            warn_where(True, ALL_NAN)  # here, and only here, NumPy tells it for every row
    result = tf.where(count_is_odd, low, mean_of_two(low, high, np.dtype(a.dtype.as_numpy_dtype)))
    result = tf.where(is_empty, tf.constant(np.nan, result.dtype), result)
    return restore_axes(result, rank_of(a), axes, keepdims, 0)
