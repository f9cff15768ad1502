"""Medians, percentiles and quantiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.dispatch.op import Array, Axis, op
from np2tf.arrays.front.flags import promote_in_any_mode
from np2tf.arrays.functions.reduction_kernels import isnan
from np2tf.arrays.functions.reductions import refuse_extended
from np2tf.arrays.operands.axes import length, normalize_axes, rank_of, refuse_axis_of_number
from np2tf.arrays.operands.conversion import cast, to_numpy
from np2tf.arrays.operands.numpy_warnings import ALL_NAN, EMPTY_MEAN, warn_where
from np2tf.arrays.operands.promotion import result_type_of
from np2tf.arrays.tensors.axis_reductions import reduce_any, reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.arrays.tensors.violations import record_violation
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = [
    "median",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "quantile",
]


# -- quantiles -----------------------------------------------------------------------------------------------

#: method -> (alpha, beta) of Hyndman and Fan's family (https://doi.org/10.2307/2684934).
_CONTINUOUS: dict[str, tuple[float, float]] = {
    "linear": (1, 1),
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
}
#: method -> how it rounds positions: of arrays, and of tensors.
_DISCRETE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "lower": (np.floor, tf.floor),
    "higher": (np.ceil, tf.math.ceil),
    "nearest": (np.round, tf.round),
}


def rows_of(a: tf.Tensor, axis: Any) -> tuple[tf.Tensor, tuple[int, ...], Any]:
    """Return the array with the axes to work along merged into a last axis, these axes, and the last axis'
    length.

    A length that is known only at run time is a tensor.

    Raises:
        StagingError: code is staged for XLA, and the length is known only at run time.
    """
    refuse_axis_of_number(axis, a)
    axes = normalize_axes(axis, rank_of(a))
    outer_axes = [k for k in range(rank_of(a)) if k not in axes]
    lengths = [a.shape[k] for k in axes]
    if None in lengths and staging_for_xla():
        raise ShapeNeededError("a quantile along an axis of unknown length")
    n: Any = length(a, axes)
    if axes and axes != (rank_of(a) - 1,):
        a = tf.transpose(a, [*outer_axes, *axes])
    shape = tf.shape(a)[: len(outer_axes)]
    static = a.shape[: len(outer_axes)]
    if axes != (len(outer_axes),):
        known = static.is_fully_defined() and isinstance(n, int)
        a = tf.reshape(a, [*static, n] if known else tf.concat([shape, [tf.cast(n, tf.int32)]], 0))
    return a, axes, n


def sort_rows(rows: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
    """The rows sorted with NaN at their ends, and where NaN was."""
    nan = isnan(rows)
    if nan is not None:
        rows = tf.where(nan, tf.constant(np.inf, rows.dtype), rows)
    if rows.dtype == tf.float16:
        return tf.cast(tf.sort(tf.cast(rows, tf.float32), -1), tf.float16), nan
    if rows.dtype.is_integer and rows.dtype not in (tf.int32, tf.int64, tf.uint64):
        return tf.cast(tf.sort(tf.cast(rows, tf.int64), -1), rows.dtype), nan
    return tf.sort(rows, -1), nan


def restore_axes(result: tf.Tensor, rank: int, axes: tuple[int, ...], keepdims: Any, lead: int) -> tf.Tensor:
    """Return `result`, whose first `lead` axes are new, with the reduced axes as axes of length 1 if
    `keepdims` is true.
    """
    if keepdims:
        for axis in axes_in_order(axes):
            result = tf.expand_dims(result, axis + lead)
    return result


def axes_in_order(axes: tuple[int, ...]) -> list[int]:
    """Return axes from front to back."""
    return sorted(axes)


def quantile_fractions(q: Any, scale: int) -> tuple[np.ndarray, bool]:
    """Return the quantiles as an array of numbers in [0, 1], and whether they are a single Python number.

    Raises:
        ValueError: a quantile is out of range.
        StagingError: the quantiles are known only at run time.
    """
    weak = type(q) in (int, float)
    values = np.asanyarray(to_numpy(q))
    if scale != 1:
        values = np.true_divide(values, scale)
    if values.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if not (np.all(values >= 0) and np.all(values <= 1)):
        raise ValueError(
            "Percentiles must be in the range [0, 100]"
            if scale != 1
            else "Quantiles must be in the range [0, 1]"
        )
    return values, weak


def interpolate(
    sorted_values: tf.Tensor, low: Any, high: Any, t: tf.Tensor, dtype: np.dtype[Any], batch_dims: int = 0
) -> tf.Tensor:
    """Return the numbers between the elements at two places of sorted rows, rounded as NumPy rounds them.

    Args:
        sorted_values: the sorted rows, along the last axis.
        low, high: the places: one place for all rows, or a place for each row if the rows' axes are
            `batch_dims`.
        t: the fraction of the way from the lower to the higher element, in the dtype in which NumPy
            subtracts it from 1.
        dtype: the dtype of the result.
        batch_dims: the number of axes that `sorted_values` and the places have in common.
    """
    before = tf.gather(sorted_values, low, axis=-1, batch_dims=batch_dims)
    after = tf.gather(sorted_values, high, axis=-1, batch_dims=batch_dims)
    gap = cast(after - before, dtype)
    below, above = cast(before, dtype) + gap * cast(t, dtype), cast(after, dtype) - gap * cast(1 - t, dtype)
    return tf.where(t >= 0.5, above, below)


def quantiles_of_rows(
    a: tf.Tensor, fractions: np.ndarray, weak: bool, axis: Any, method: str, keepdims: Any
) -> tf.Tensor:
    """Return the quantiles of an array over axes; `weak` says that the fractions are Python numbers."""
    if a.dtype in COMPLEX:
        raise TypeError("a must be an array of real numbers")
    rows, axes, n = rows_of(a, axis)
    refuse_empty(n)
    sorted_rows, nan = sort_rows(rows)
    input_dtype = np.dtype(a.dtype.as_numpy_dtype)
    if not isinstance(n, int):
        result = _quantiles_at_run_time(sorted_rows, method, n, fractions, weak)
    elif method in _DISCRETE:
        index = _DISCRETE[method][0]((n - 1) * fractions).astype(np.int64)
        result = tf.gather(sorted_rows, index, axis=-1)
    else:
        result = _interpolate(sorted_rows, _virtual(method, n, fractions), n, input_dtype, weak)
    lead = fractions.ndim
    if nan is not None:
        any_nan = reduce_any(nan, -1)
        any_nan = any_nan[(..., *[None] * lead)]
        result = tf.where(any_nan, tf.constant(np.nan, result.dtype), result)
    if lead:
        order = [*range(rank_of(result) - lead, rank_of(result)), *range(rank_of(result) - lead)]
        result = tf.transpose(result, order)
    return restore_axes(result, rank_of(a), axes, keepdims, lead)


def _virtual(method: str, n: Any, fractions: Any) -> Any:
    """Return the positions of quantiles among n sorted numbers; they may lie between two numbers.

    The number and the fractions are an int and an array, or tensors of one dtype.

    Raises:
        ValueError: NumPy has no such method.
        StagingError: the method is left to NumPy.
    """
    if method == "linear":
        return (n - 1) * fractions
    if method == "midpoint":
        floor, ceil = (_DISCRETE[name][isinstance(n, tf.Tensor)] for name in ("lower", "higher"))
        return 0.5 * (floor((n - 1) * fractions) + ceil((n - 1) * fractions))
    if method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        return n * fractions + (alpha + fractions * (1 - alpha - beta)) - 1
    if method in ("inverted_cdf", "averaged_inverted_cdf", "closest_observation"):
        raise NoGraphFormError(f"quantiles by the method {method}")
    raise ValueError(f"{method!r} is not a valid method")


@promote_in_any_mode
def _interpolate(
    sorted_values: tf.Tensor, virtual: np.ndarray, n: int, dtype: np.dtype[Any], weak: bool
) -> tf.Tensor:
    virtual_dtype = virtual.dtype if virtual.dtype.kind == "f" else np.dtype(np.float64)
    low = np.clip(np.floor(virtual), 0, n - 1).astype(np.int64)
    high = np.minimum(low + 1, n - 1)
    gamma = np.where(virtual >= n - 1, 1.0, np.where(virtual < 0, 0.0, virtual - np.floor(virtual)))
    result_dtype = result_type_of((dtype, float if weak else virtual_dtype))
    return interpolate(sorted_values, low, high, tf.constant(gamma.astype(virtual_dtype)), result_dtype)


@promote_in_any_mode
def _quantiles_at_run_time(
    sorted_values: tf.Tensor, method: str, n: tf.Tensor, fractions: np.ndarray, weak: bool
) -> tf.Tensor:
    """Return quantiles of sorted rows whose length is known only at run time."""
    fraction_dtype = fractions.dtype if fractions.dtype.kind == "f" else np.dtype(np.float64)
    at = tf.constant(fractions.astype(fraction_dtype))
    count = tf.cast(n, at.dtype)
    if method in _DISCRETE:
        index = _DISCRETE[method][1]((count - 1) * at)
        return tf.gather(sorted_values, tf.cast(index, tf.int64), axis=-1)
    virtual = _virtual(method, count, at)
    whole = tf.floor(virtual)
    low = tf.maximum(tf.minimum(tf.cast(whole, tf.int64), n - 1), 0)
    result_dtype = result_type_of((sorted_values.dtype.as_numpy_dtype, float if weak else fraction_dtype))
    one, zero = tf.ones((), at.dtype), tf.zeros((), at.dtype)
    gamma = tf.where(virtual >= count - 1, one, tf.where(virtual < 0, zero, virtual - whole))
    high = tf.minimum(low + 1, n - 1)
    return interpolate(sorted_values, low, high, gamma, result_dtype)


def refuse_empty(n: Any) -> None:
    """Check that there are numbers to take a quantile of."""
    if isinstance(n, int) and n == 0:
        raise NoGraphFormError("quantiles of nothing")
    if not isinstance(n, int):
        record_violation(n == 0)


def _quantile_op(
    numpy: Callable[..., Any], compute: Callable[..., tf.Tensor], whole: int
) -> Callable[..., Any]:
    """Return the function for NumPy's, with the parameters of `np.quantile`; `whole` is the greatest `q`."""

    def quantile(
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
        if weights is not None:
            raise NoGraphFormError("quantiles with weights")
        return compute(a, *quantile_fractions(q, whole), axis, method, keepdims)

    quantile.__name__ = numpy.__name__
    return op(numpy)(quantile)


quantile = _quantile_op(np.quantile, quantiles_of_rows, 1)
percentile = _quantile_op(np.percentile, quantiles_of_rows, 100)


def _middle(sorted_values: tf.Tensor, dtype: np.dtype[Any], n: Any) -> tf.Tensor:
    if not isinstance(n, int):
        # An additional element, so that an empty row has an element to read.
        row = tf.pad(sorted_values, [[0, 0]] * (rank_of(sorted_values) - 1) + [[0, 1]])
        low, high = row[..., tf.maximum(n - 1, 0) // 2], row[..., n // 2]
        middle = tf.where(n % 2 == 1, cast(low, dtype), mean_of_two(low, high, dtype))
        return tf.where(n == 0, tf.constant(np.nan, middle.dtype), middle)
    if n % 2:
        return cast(sorted_values[..., n // 2], dtype)
    return mean_of_two(sorted_values[..., n // 2 - 1], sorted_values[..., n // 2], dtype)


def mean_of_two(low: tf.Tensor, high: tf.Tensor, dtype: np.dtype[Any]) -> tf.Tensor:
    """Return the mean of two numbers in a dtype, computed as NumPy computes it."""
    wide = np.dtype(np.float32) if dtype == np.float16 else dtype
    pair = cast(low, wide) + cast(high, wide)
    return cast(pair / tf.constant(2, pair.dtype), dtype)


@op(np.median)
def median(
    a: Array, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> tf.Tensor:
    """Return medians over axes. The median of no numbers is NaN."""
    if a.dtype in COMPLEX:
        raise NoGraphFormError("the median of complex numbers")
    refuse_extended(a)
    rows, axes, n = rows_of(a, axis)
    input_dtype = np.dtype(a.dtype.as_numpy_dtype)
    result_dtype = input_dtype if input_dtype.kind == "f" else np.dtype(np.float64)
    if isinstance(n, int) and n == 0:
        warn_where(True, EMPTY_MEAN)
        result = tf.fill(tf.shape(rows)[:-1], tf.constant(np.nan, result_dtype))
        return restore_axes(result, rank_of(a), axes, keepdims, 0)
    sorted_rows, nan = sort_rows(rows if a.dtype != tf.bool else tf.cast(rows, tf.int32))
    result = _middle(sorted_rows, result_dtype, n)
    if nan is not None:
        result = tf.where(reduce_any(nan, -1), tf.constant(np.nan, result.dtype), result)
    return restore_axes(result, rank_of(a), axes, keepdims, 0)


# -- nan quantiles -------------------------------------------------------------------------------------------
# Medians and quantiles of the elements that are not NaN.


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


nanquantile = _quantile_op(np.nanquantile, _quantiles_without_nan, 1)
nanpercentile = _quantile_op(np.nanpercentile, _quantiles_without_nan, 100)


@op(np.nanmedian)
def nanmedian(
    a: Array, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> tf.Tensor:
    """Return medians over axes of the elements that are not NaN."""
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
