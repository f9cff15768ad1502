"""Sums, products, means and variances over axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.staging import NoGraphFormError
from np2tf.tnp._chapters.reductions.extremes import _is_zero
from np2tf.tnp._chapters.reductions.primitives import (
    Reducer,
    accumulator_dtype,
    apply_where,
    count,
    divide_by_count,
    mean_dtype,
    raw_all,
    raw_any,
    raw_prod,
    raw_sum,
    sum_dtype,
)
from np2tf.tnp._dispatch.argument_types import Array, Axis, DType
from np2tf.tnp._dispatch.op import attach, op
from np2tf.tnp._operands.axis_arguments import (
    normalize_axes,
    rank_of,
    refuse_axis_of_number,
)
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._tensor.dtype_dispatch import COMPLEX
from np2tf.tnp._warnings.value_warnings import EMPTY_MEAN, TOO_FEW, warn_where

__all__ = ["mean", "prod", "std", "sum", "var"]


def _is_negative_zero(number: tf.Tensor) -> bool:
    """Return whether a number is known to be -0 in its real or imaginary part."""
    static_value = tf.get_static_value(number) if tf.executing_eagerly() else None
    return (
        static_value is not None
        and static_value == 0
        and bool(np.signbit([static_value.real, static_value.imag]).any())
    )


def _total(
    reducer: Reducer,
    identity: int,
    a: tf.Tensor,
    axis: Any,
    dtype: Any,
    keepdims: Any,
    initial: Any,
    where: Any,
) -> tf.Tensor:
    axes = normalize_axes(axis, rank_of(a))
    result_dtype = accumulator_dtype(a, dtype)
    wide = sum_dtype(result_dtype)
    combine = tf.add if identity == 0 else tf.multiply
    if wide == np.bool_:
        reducer, combine = (raw_any, tf.logical_or) if identity == 0 else (raw_all, tf.logical_and)
    result = reducer(apply_where(cast(a, wide), where, identity), axes, keepdims)
    if initial is not None:
        start = as_tensor(initial, wide)
        if rank_of(start) != 0:
            raise ValueError("setting an array element with a sequence.")
        if identity == 0 and _is_negative_zero(start) and not record.could_possibly_record():
            raise NoGraphFormError("a sum that may be -0")
        result = combine(result, start)
    return cast(result, result_dtype)


@op(np.sum, method=True)
def sum(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> tf.Tensor:
    """Return the sum over axes.

    Args:
        a: array of numbers.
        axis: the axis or axes to reduce; None is all of them.
        dtype: the dtype of the result; None is NumPy's choice.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        initial: number that the reduction starts from; None is no number.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Returns:
        An array of numbers in the shape of `a` without the reduced axes.

    Raises:
        ValueError: `initial` is not a number.

    See https://numpy.org/doc/stable/reference/generated/numpy.sum.html.
    """
    return _total(raw_sum, 0, a, axis, dtype, keepdims, initial, where)


@op(np.prod, method=True)
def prod(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> tf.Tensor:
    """Return the product over axes.

    Args:
        a: array of numbers.
        axis: the axis or axes to reduce; None is all of them.
        dtype: the dtype of the result; None is NumPy's choice.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        initial: number that the reduction starts from; None is no number.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Returns:
        An array of numbers in the shape of `a` without the reduced axes.

    Raises:
        ValueError: `initial` is not a number.

    See https://numpy.org/doc/stable/reference/generated/numpy.prod.html.
    """
    return _total(raw_prod, 1, a, axis, dtype, keepdims, initial, where)


# -- means ---------------------------------------------------------------------------------------------------


def refuse_extended(a: tf.Tensor) -> None:
    """Leave bfloat16 and similar dtypes to NumPy, which takes them for neither floats nor integers.

    Raises:
        StagingError: `a` has a dtype that NumPy takes for neither.
    """
    if np.dtype(a.dtype.as_numpy_dtype).kind == "V":
        raise NoGraphFormError(f"a mean of {a.dtype.name}")


def mean_of(a: tf.Tensor, axis: Any, dtype: Any, keepdims: Any, where: Any) -> tf.Tensor:
    """Return the mean over axes, accumulated and rounded as NumPy does."""
    axes = normalize_axes(axis, rank_of(a))
    refuse_extended(a)
    if dtype is None:
        dtype = mean_dtype(a)
    wide = sum_dtype(dtype) if a.dtype == dtype else dtype
    total = raw_sum(apply_where(cast(a, wide), where, 0), axes, keepdims)
    number = count(a, axes, keepdims, where)
    if where is not True or _is_zero(number):
        warn_where(number == 0, EMPTY_MEAN)
    if wide.kind not in "fc":
        return cast(divide_by_count(cast(total, np.float64), number), dtype)
    return cast(divide_by_count(total, number), dtype)


@op(np.mean, method=True)
def mean(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    keepdims: Any = False,
    *,
    where: Any = True,
) -> tf.Tensor:
    """Return the mean over axes.

    Args:
        a: array of numbers.
        axis: the axis or axes to reduce; None is all of them.
        dtype: the dtype of the result; None is float64 for integers, else that of `a`.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Returns:
        An array of numbers in the shape of `a` without the reduced axes.

    See https://numpy.org/doc/stable/reference/generated/numpy.mean.html.
    """
    refuse_axis_of_number(axis, a)
    return mean_of(a, axis, dtype, keepdims, where)


def variance_of(
    a: tf.Tensor, axis: Any, dtype: Any, ddof: Any, keepdims: Any, where: Any, mean: Any
) -> tf.Tensor:
    """Return the variance over axes, in the dtype in which NumPy accumulates.

    Raises:
        StagingError: complex numbers have a variance in a dtype that is not complex, or the dtype is not
            NumPy's.
    """
    refuse_extended(a)
    axes = normalize_axes(axis, rank_of(a))
    if a.dtype.is_complex and dtype is not None and dtype.kind != "c":
        # NumPy drops the imaginary part of the mean, but not of the distances from the mean.
        raise NoGraphFormError("the variance of complex numbers in another dtype")
    narrow = dtype if dtype is not None else mean_dtype(a)
    if narrow == np.float16:
        return _half_variance(cast(a, narrow), axes, ddof, keepdims, where, mean)
    wide = sum_dtype(narrow)
    x = cast(a, wide)
    number = count(a, axes, keepdims, where)
    if mean is None:
        keep = count(a, axes, True, where)
        center = divide_by_count(raw_sum(apply_where(x, where, 0), axes, True), keep)
    else:
        center = as_tensor(mean, wide)
    off = x - center
    squares = tf.square(tf.math.real(off)) + tf.square(tf.math.imag(off)) if x.dtype in COMPLEX else off * off
    total = raw_sum(apply_where(squares, where, 0), axes, keepdims)
    if isinstance(number, tf.Tensor):
        left = tf.cast(number, tf.float64) - tf.cast(ddof, tf.float64)
        warn_where(left <= 0, TOO_FEW)
        return divide_by_count(total, tf.maximum(left, tf.zeros((), left.dtype)))
    left = number - ddof
    warn_where(left <= 0, TOO_FEW)
    return divide_by_count(total, left if left > 0 else 0)


def _half_variance(
    x: tf.Tensor, axes: tuple[int, ...], ddof: Any, keepdims: Any, where: Any, mean: Any
) -> tf.Tensor:
    """Return the variance of numbers of 16 bits, whose sums and squares NumPy rounds to 16 bits each."""

    warn_where(count(x, axes, keepdims, where) - ddof <= 0, TOO_FEW)
    off = x - (half_mean(x, axes, True, where) if mean is None else as_tensor(mean, np.float16))
    return half_mean(off * off, axes, keepdims, where, ddof)


def half_mean(x: tf.Tensor, axes: tuple[int, ...], keepdims: Any, where: Any, ddof: Any = 0) -> tf.Tensor:
    """Return the mean of numbers of 16 bits, with the sum rounded to 16 bits; `mean` rounds once."""
    total = cast(raw_sum(apply_where(cast(x, np.float32), where, 0), axes, keepdims), np.float16)
    left = tf.cast(count(x, axes, keepdims, where), tf.float64) - tf.cast(ddof, tf.float64)
    return cast(cast(total, np.float64) / tf.maximum(left, tf.zeros((), left.dtype)), np.float16)


def _result_of_variance(a: tf.Tensor, dtype: Any) -> np.dtype[Any]:
    compute_dtype = np.dtype(dtype) if dtype is not None else mean_dtype(a)
    if compute_dtype.kind == "c" and dtype is not None:
        return compute_dtype
    if compute_dtype.kind == "c":
        return np.dtype(f"f{compute_dtype.itemsize // 2}")
    return np.dtype(np.float64) if compute_dtype.kind in "biu" else compute_dtype


def degrees(ddof: Any, correction: Any) -> Any:
    """Return `ddof`, which may be given under its other name `correction`.

    Raises:
        ValueError: both are given.
    """
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


@op(np.var)
def var(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> tf.Tensor:
    """Return the variance over axes.

    Args:
        a: array of numbers.
        axis: the axis or axes to reduce; None is all of them.
        dtype: the dtype in which to compute; None is float64 for integers, else that of `a`.
        out: array to write the result into; None makes a new array.
        ddof: the number to subtract from the number of elements in the divisor.
        keepdims: whether the reduced axes remain with length 1.
        where: boolean mask of the elements to use, which broadcasts to `a`.
        mean: the mean, with reduced axes of length 1; None computes it.
        correction: another name of `ddof`.

    Returns:
        An array of floats.

    Raises:
        ValueError: both `ddof` and `correction` are given.
        StagingError: `a` is complex, and `dtype` is not.

    See https://numpy.org/doc/stable/reference/generated/numpy.var.html.
    """
    refuse_axis_of_number(axis, a)
    variance = variance_of(a, axis, dtype, degrees(ddof, correction), keepdims, where, mean)
    return cast(variance, _result_of_variance(a, dtype))


@op(np.std)
def std(
    a: Array,
    axis: Axis = None,
    dtype: DType = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> tf.Tensor:
    """Return the standard deviation over axes.

    Args:
        a: array of numbers.
        axis: the axis or axes to reduce; None is all of them.
        dtype: the dtype in which to compute; None is float64 for integers, else that of `a`.
        out: array to write the result into; None makes a new array.
        ddof: the number to subtract from the number of elements in the divisor.
        keepdims: whether the reduced axes remain with length 1.
        where: boolean mask of the elements to use, which broadcasts to `a`.
        mean: the mean, with reduced axes of length 1; None computes it.
        correction: another name of `ddof`.

    Returns:
        An array of floats.

    Raises:
        ValueError: both `ddof` and `correction` are given.
        StagingError: `a` is complex, and `dtype` is not.

    See https://numpy.org/doc/stable/reference/generated/numpy.std.html.
    """
    refuse_axis_of_number(axis, a)
    variance = variance_of(a, axis, dtype, degrees(ddof, correction), keepdims, where, mean)
    return cast(tf.sqrt(variance), _result_of_variance(a, dtype))


def _spread_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of a function; the method lacks the parameter `correction`, and has `ddof` only."""

    def method(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: Any = 0,
        keepdims: Any = False,
        *,
        where: Any = True,
        mean: Any = None,
    ) -> Any:
        return function(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    return method


attach("var", _spread_method(var))
attach("std", _spread_method(std))
