"""Sums, products, means, extremes and truth values over axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record

from np2tf.staging import NoGraphFormError, ShapeNeededError
from np2tf.tnp._array.ndarray import weak_scalar
from np2tf.tnp._chapters.reductions.nan_extrema import reduce_extreme
from np2tf.tnp._chapters.reductions.primitives import (
    Reducer,
    accumulating,
    count,
    divided,
    isnan,
    masked,
    mean_dtype,
    raw_all,
    raw_any,
    raw_prod,
    raw_sum,
    tree_reduce,
    widened,
)
from np2tf.tnp._dispatch.op import Array, Axis, DType, attach, on_host, op
from np2tf.tnp._operands.axis_arguments import flattened, length, normalize_axes, rank, refuse_axis_of_number
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._tensor.dtype_dispatch import COMPLEX
from np2tf.tnp._tensor.index_bounds import record_violation
from np2tf.tnp._ufuncs.comparison import EXTREMES, truth
from np2tf.tnp._warnings.value_warnings import EMPTY_MEAN, TOO_FEW, warn_where

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "count_nonzero",
    "max",
    "mean",
    "min",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]


def _is_negative_zero(number: tf.Tensor) -> bool:
    """Return whether a number is known to be -0 in its real or imaginary part."""
    known = tf.get_static_value(number) if tf.executing_eagerly() else None
    return known is not None and known == 0 and bool(np.signbit([known.real, known.imag]).any())


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
    """Return the sum or product over axes.

    Raises:
        ValueError: `initial` is not a number.
        StagingError: the sum may be -0.
    """
    axes = normalize_axes(axis, rank(a))
    wanted = accumulating(a, dtype)
    wide = widened(wanted)
    result = reducer(masked(cast(a, wide), where, identity), axes, keepdims)
    if initial is not None:
        start = as_tensor(initial, wide)
        if rank(start) != 0:
            raise ValueError("setting an array element with a sequence.")
        if identity == 0 and _is_negative_zero(start) and not record.could_possibly_record():
            raise NoGraphFormError("a sum with initial=-0.0")
        result = result + start if identity == 0 else result * start
    return cast(result, wanted)


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

    Raises:
        ValueError: `initial` is not a number.

    See https://numpy.org/doc/stable/reference/generated/numpy.prod.html.
    """
    return _total(raw_prod, 1, a, axis, dtype, keepdims, initial, where)


# -- means ---------------------------------------------------------------------------------------------------


def refuse_extended(a: tf.Tensor) -> None:
    """Leave bfloat16 and similar dtypes to NumPy, which takes them for neither floats nor integers.

    Raises:
        StagingError: `a` has such a dtype.
    """
    if np.dtype(a.dtype.as_numpy_dtype).kind == "V":
        raise NoGraphFormError(f"a mean of {a.dtype.name}")


def mean_of(a: tf.Tensor, axis: Any, dtype: Any, keepdims: Any, where: Any) -> tf.Tensor:
    """Return the mean over axes, accumulated and rounded as NumPy does."""
    axes = normalize_axes(axis, rank(a))
    refuse_extended(a)
    if dtype is None:
        dtype = mean_dtype(a)
    wide = widened(dtype) if a.dtype == dtype else dtype
    total = raw_sum(masked(cast(a, wide), where, 0), axes, keepdims)
    number = count(a, axes, keepdims, where)
    if where is not True or _is_zero(number):
        warn_where(number == 0, EMPTY_MEAN)
    if wide.kind not in "fc":
        return cast(divided(cast(total, np.float64), number), dtype)
    return cast(divided(total, number), dtype)


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
    axes = normalize_axes(axis, rank(a))
    if a.dtype.is_complex and dtype is not None and dtype.kind != "c":
        # In NumPy the mean loses its imaginary part, and the distances from the mean keep theirs.
        raise NoGraphFormError("the variance of complex numbers in another dtype")
    wide = widened(dtype if dtype is not None else mean_dtype(a))
    x = cast(a, wide)
    number = count(a, axes, keepdims, where)
    if mean is None:
        keep = count(a, axes, True, where)
        center = divided(raw_sum(masked(x, where, 0), axes, True), keep)
    else:
        center = as_tensor(mean, wide)
    off = x - center
    squares = tf.square(tf.math.real(off)) + tf.square(tf.math.imag(off)) if x.dtype in COMPLEX else off * off
    total = raw_sum(masked(squares, where, 0), axes, keepdims)
    if isinstance(number, tf.Tensor):
        left = tf.cast(number, tf.float64) - tf.cast(ddof, tf.float64)
        warn_where(left <= 0, TOO_FEW)
        return divided(total, tf.maximum(left, tf.zeros((), left.dtype)))
    left = number - ddof
    warn_where(left <= 0, TOO_FEW)
    return divided(total, left if left > 0 else 0)


def _result_of_variance(a: tf.Tensor, dtype: Any) -> np.dtype[Any]:
    """Return the dtype of a variance of `a`."""
    given = np.dtype(dtype) if dtype is not None else mean_dtype(a)
    if given.kind == "c" and dtype is not None:
        return given
    if given.kind == "c":
        return np.dtype(f"f{given.itemsize // 2}")
    return np.dtype(np.float64) if given.kind in "biu" else given


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
    found = variance_of(a, axis, dtype, degrees(ddof, correction), keepdims, where, mean)
    return cast(found, _result_of_variance(a, dtype))


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
    found = variance_of(a, axis, dtype, degrees(ddof, correction), keepdims, where, mean)
    return cast(tf.sqrt(found), _result_of_variance(a, dtype))


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


# -- extremes ------------------------------------------------------------------------------------------------


def _extreme(name: str, a: tf.Tensor, axis: Any, keepdims: Any, initial: Any, where: Any) -> tf.Tensor:
    """Return the maximum or minimum over axes.

    Raises:
        ValueError: there are no elements, or `where` is given without `initial`.
    """
    axes = normalize_axes(axis, rank(a))
    if initial is None:
        if where is not True:
            raise ValueError(
                f"reduction operation '{name}' does not have an identity, so to use a where mask one has "
                "to specify 'initial'"
            )
        require_elements(a, axes, name)
    else:
        a = masked(a, where, initial)
        if _is_zero(length(a, axes)):
            # TensorFlow's extremum of no elements is infinite, or fails.
            made = tf.reduce_any(tf.zeros_like(a, tf.bool), axes, bool(keepdims))
            return tf.fill(tf.shape(made), as_tensor(initial, a.dtype.as_numpy_dtype))
    result = extreme_of(name, a, axes, keepdims)
    return result if initial is None else EXTREMES[name](result, as_tensor(initial, a.dtype.as_numpy_dtype))


def require_elements(a: tf.Tensor, axes: tuple[int, ...], name: str) -> None:
    """Refuse to reduce an axis without elements.

    Raises:
        ValueError: the reduction has no element to start from.
    """
    size = length(a, axes)
    if isinstance(size, tf.Tensor):
        record_violation(tf.equal(size, 0))
    if _is_zero(size):
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")


def _is_zero(number: Any) -> bool:
    """Return whether a number is known to be 0."""
    return isinstance(number, int) and number == 0


def complex_extreme(name: str, a: tf.Tensor, axes: tuple[int, ...], keepdims: Any) -> tf.Tensor:
    """Return the maximum, minimum, fmax or fmin of complex numbers over axes.

    Raises:
        StagingError: the length of an axis is unknown.
    """
    for axis in sorted(axes, reverse=True):
        if a.shape[axis] is None:
            raise ShapeNeededError(f"{name} of complex numbers along an axis of unknown length")
        a = tree_reduce(EXTREMES[name], a, axis, keepdims)
    return a


def extreme_of(name: str, a: tf.Tensor, axes: tuple[int, ...], keepdims: Any) -> tf.Tensor:
    """Return the maximum or minimum over axes; NaN if one of the elements is NaN."""
    if a.dtype == tf.bool:
        return (raw_any if name == "maximum" else raw_all)(a, axes, keepdims)
    if a.dtype in COMPLEX:
        return complex_extreme(name, a, axes, keepdims)
    return reduce_extreme(name, a, axes, keepdims)


@op(np.max, method=True)
def max(
    a: Array,
    axis: Axis = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> tf.Tensor:
    """Return the maximum over axes; NaN if an element is NaN.

    Args:
        a: array of any dtype.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        initial: number that the reduction starts from; None is no number.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Raises:
        ValueError: there are no elements and no `initial`, or `where` is given without `initial`.
        StagingError: the numbers are complex, and the length of an axis is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.max.html.
    """
    return _extreme("maximum", a, axis, keepdims, initial, where)


@op(np.min, method=True)
def min(
    a: Array,
    axis: Axis = None,
    out: Any = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> tf.Tensor:
    """Return the minimum over axes; NaN if an element is NaN.

    Args:
        a: array of any dtype.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        initial: number that the reduction starts from; None is no number.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Raises:
        ValueError: there are no elements and no `initial`, or `where` is given without `initial`.
        StagingError: the numbers are complex, and the length of an axis is unknown.

    See https://numpy.org/doc/stable/reference/generated/numpy.min.html.
    """
    return _extreme("minimum", a, axis, keepdims, initial, where)


amax = op(np.amax)(max.__wrapped__)  # type: ignore[attr-defined]
amin = op(np.amin)(min.__wrapped__)  # type: ignore[attr-defined]


@op(np.ptp)
def ptp(a: Array, axis: Axis = None, out: Any = None, keepdims: Any = False) -> tf.Tensor:
    """Return the difference of the maximum and the minimum over axes.

    Args:
        a: array of numbers.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.

    Raises:
        ValueError: there are no elements.
        TypeError: `a` is of booleans.

    See https://numpy.org/doc/stable/reference/generated/numpy.ptp.html.
    """
    require_elements(a, normalize_axes(axis, rank(a)), "maximum")
    if a.dtype == tf.bool:
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    return _extreme("maximum", a, axis, keepdims, None, True) - _extreme(
        "minimum", a, axis, keepdims, None, True
    )


def _position(name: str, a: tf.Tensor, axis: Any, keepdims: Any) -> tf.Tensor:
    """Return the position of the maximum or minimum along an axis."""
    given = rank(a)
    x, along = flattened(a, axis)
    if x.shape[along] == 0:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    if x.shape[along] is None:
        record_violation(tf.equal(tf.shape(x)[along], 0))
    result = position_of(name, x, along)
    if not keepdims:
        return result
    return tf.expand_dims(result, along) if given and axis is not None else tf.reshape(result, [1] * given)


def position_of(name: str, x: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the first position of the extreme along an axis, or of the first NaN.

    Raises:
        StagingError: the numbers are complex.
    """
    if x.dtype in COMPLEX:
        raise NoGraphFormError(f"{name} of complex numbers")
    if x.dtype == tf.bool:
        x = tf.cast(x, tf.int32)
    function = tf.argmax if name == "argmax" else tf.argmin
    nan = isnan(x)
    if nan is None:
        return function(x, axis, output_type=tf.int64)
    # A comparison with NaN is false, so that the search must not see NaN.
    hidden = tf.where(nan, tf.zeros((), x.dtype), x)
    first_nan = tf.argmax(tf.cast(nan, tf.int32), axis, output_type=tf.int64)
    return tf.where(tf.reduce_any(nan, axis), first_nan, function(hidden, axis, output_type=tf.int64))


@op(np.argmax, method=True)
def argmax(a: Array, axis: Axis = None, out: Any = None, *, keepdims: Any = False) -> tf.Tensor:
    """Return the index of the first maximum along an axis, or of the first NaN.

    Args:
        a: array of real numbers.
        axis: the axis to work along; None is the flattened array.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.

    Returns:
        An array of int64.

    Raises:
        ValueError: there are no elements.
        StagingError: the numbers are complex.

    See https://numpy.org/doc/stable/reference/generated/numpy.argmax.html.
    """
    return _position("argmax", a, axis, keepdims)


@op(np.argmin, method=True)
def argmin(a: Array, axis: Axis = None, out: Any = None, *, keepdims: Any = False) -> tf.Tensor:
    """Return the index of the first minimum along an axis, or of the first NaN.

    Args:
        a: array of real numbers.
        axis: the axis to work along; None is the flattened array.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.

    Returns:
        An array of int64.

    Raises:
        ValueError: there are no elements.
        StagingError: the numbers are complex.

    See https://numpy.org/doc/stable/reference/generated/numpy.argmin.html.
    """
    return _position("argmin", a, axis, keepdims)


# -- truth ---------------------------------------------------------------------------------------------------


@op(np.any)
def any(
    a: Array, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> tf.Tensor:
    """Return whether any element is true, over axes.

    Args:
        a: array of any dtype; numbers other than 0 are true.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Returns:
        An array of booleans.

    See https://numpy.org/doc/stable/reference/generated/numpy.any.html.
    """
    return raw_any(masked(truth(a), where, False), normalize_axes(axis, rank(a)), keepdims)


@op(np.all)
def all(
    a: Array, axis: Axis = None, out: Any = None, keepdims: Any = False, *, where: Any = True
) -> tf.Tensor:
    """Return whether all elements are true, over axes.

    Args:
        a: array of any dtype; numbers other than 0 are true.
        axis: the axis or axes to reduce; None is all of them.
        out: array to write the result into; None makes a new array.
        keepdims: whether the reduced axes remain with length 1.
        where: boolean mask of the elements to use, which broadcasts to `a`.

    Returns:
        An array of booleans.

    See https://numpy.org/doc/stable/reference/generated/numpy.all.html.
    """
    return raw_all(masked(truth(a), where, True), normalize_axes(axis, rank(a)), keepdims)


def _truth_method(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method of a function; the method has a parameter `dtype`, which the function lacks."""
    numpy = getattr(np.ndarray, function.__name__)

    def method(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
        *,
        where: Any = True,
    ) -> Any:
        if dtype is None:
            return function(a, axis, out, keepdims, where=where)
        return on_host(numpy, (a, axis, dtype, out, keepdims), {"where": where})

    return method


attach("any", _truth_method(any))
attach("all", _truth_method(all))


@op(np.count_nonzero)
def count_nonzero(a: Array, axis: Axis = None, *, keepdims: Any = False) -> Any:
    """Return the number of elements that are not 0, over axes.

    Args:
        a: array of any dtype.
        axis: the axis or axes to reduce; None is all of them.
        keepdims: whether the reduced axes remain with length 1.

    Returns:
        An array of int64; before NumPy 2.3, an int if all axes are reduced.

    See https://numpy.org/doc/stable/reference/generated/numpy.count_nonzero.html.
    """
    count = raw_sum(tf.cast(truth(a), tf.int64), normalize_axes(axis, rank(a)), keepdims)
    if axis is None and not keepdims and _COUNTS_ARE_PYTHONS:
        return int(count.numpy()) if hasattr(count, "numpy") else weak_scalar(count, int)
    return count


#: Whether a count is Python's int, as before NumPy 2.3.
_COUNTS_ARE_PYTHONS = isinstance(np.count_nonzero(()), int)
