"""Reductions that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.dispatch.op import Array, Axis, DType, op
from np2tf.arrays.functions.reduction_kernels import count, isnan, raw_all, raw_prod, raw_sum
from np2tf.arrays.functions.reductions import (
    complex_extreme,
    extreme_of,
    extreme_op,
    half_mean,
    mean_of,
    position_of,
    require_elements,
    spread_op,
    total_op,
    variance_of,
)
from np2tf.arrays.operands.axes import flatten_for_axis, normalize_axes, rank_of
from np2tf.arrays.operands.numpy_warnings import ALL_NAN, EMPTY_MEAN, warn_where
from np2tf.arrays.tensors.axis_reductions import reduce_all, reduce_any
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX
from np2tf.core.errors import NoGraphFormError, ValueNeededError

__all__ = [
    "nanargmax",
    "nanargmin",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]


def _mask(a: tf.Tensor, where: Any) -> Any:
    """Return the mask `where`, made false also where `a` is NaN."""
    nan = isnan(a)
    if nan is None:
        return where
    return ~nan if where is True else ~nan & tf.convert_to_tensor(where)


nansum = total_op(np.nansum, raw_sum, 0, _mask)
nanprod = total_op(np.nanprod, raw_prod, 1, _mask)


@op(np.nanmean)
def nanmean(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> tf.Tensor:
    """Return the mean over axes of the elements that are not NaN."""
    inexact = a.dtype.is_floating or a.dtype.is_complex
    if inexact and dtype is not None and dtype.kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
    if a.dtype == tf.float16 and dtype in (None, np.dtype(np.float16)):
        axes, mask = normalize_axes(axis, rank_of(a)), _mask(a, where)
        warn_where(count(a, axes, keepdims, mask) == 0, EMPTY_MEAN)
        return half_mean(a, axes, keepdims, mask)
    return mean_of(a, axis, dtype, keepdims, _mask(a, where))


def _variance(
    a: tf.Tensor, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any
) -> tf.Tensor:
    mask = _mask(a, where)
    variance = variance_of(a, axis, dtype, ddof, keepdims, mask, mean)
    if isnan(a) is None:
        return variance
    # With too few numbers NumPy gives NaN here, where `var` gives infinity.
    left = count(a, normalize_axes(axis, rank_of(a)), keepdims, mask) - ddof
    return tf.where(left <= 0, tf.constant(np.nan, variance.dtype), variance)


nanvar = spread_op(np.nanvar, _variance, is_root=False)
nanstd = spread_op(np.nanstd, _variance, is_root=True)


def _extreme(name: str, a: tf.Tensor, axis: Any, keepdims: Any, initial: Any, where: Any) -> tf.Tensor:
    if initial is not None or where is not True:
        raise NoGraphFormError(f"nan{name[:3]} with initial or where")
    axes = normalize_axes(axis, rank_of(a))
    require_elements(a, axes, "f" + name[:3])
    nan = isnan(a)
    if nan is None:
        return extreme_of(name, a, axes, keepdims)
    if a.dtype in COMPLEX:
        warn_where(raw_all(nan, axes, keepdims), ALL_NAN)
        return complex_extreme("f" + name[:3], a, axes, keepdims)
    worst = tf.constant(-np.inf if name == "maximum" else np.inf, a.dtype)
    extremes = extreme_of(name, tf.where(nan, worst, a), axes, keepdims)
    is_all_nan = raw_all(nan, axes, keepdims)
    warn_where(is_all_nan, ALL_NAN)
    return tf.where(is_all_nan, tf.constant(np.nan, a.dtype), extremes)


nanmax = extreme_op(np.nanmax, _extreme, "maximum")
nanmin = extreme_op(np.nanmin, _extreme, "minimum")


def _position(name: str, a: tf.Tensor, axis: Any, keepdims: Any) -> tf.Tensor:
    rank = rank_of(a)
    x, along = flatten_for_axis(a, axis)
    if x.shape[along] == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    nan = isnan(x)
    if nan is not None:
        hopeless = tf.get_static_value(reduce_any(reduce_all(nan, along)))
        if hopeless is None:
            raise ValueNeededError(f"nan{name} of numbers known only at run time, maybe all NaN")
        if hopeless:
            raise ValueError("All-NaN slice encountered")
        x = tf.where(nan, tf.constant(-np.inf if name == "argmax" else np.inf, x.dtype), x)
    result = position_of(name, x, along)
    if not keepdims:
        return result
    return tf.reshape(result, [1] * rank) if axis is None else tf.expand_dims(result, along)


@op(np.nanargmax)
def nanargmax(a: Array, axis: Axis = None, out: Any = None, *, keepdims: Any = False) -> tf.Tensor:
    """Return the index of the largest element that is not NaN, along an axis."""
    return _position("argmax", a, axis, keepdims)


@op(np.nanargmin)
def nanargmin(a: Array, axis: Axis = None, out: Any = None, *, keepdims: Any = False) -> tf.Tensor:
    """Return the index of the smallest element that is not NaN, along an axis."""
    return _position("argmin", a, axis, keepdims)
