"""Differences, gradients, integrals and interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.arrays.dispatch.op import Array, Axis, Int, Operand, OptionalArray, op
from np2tf.arrays.functions.sorting import positions
from np2tf.arrays.functions.ufuncs import table as ufuncs
from np2tf.arrays.functions.ufuncs.real import remainder, with_derivative_of
from np2tf.arrays.operands.axes import (
    difference_along,
    length,
    normalize_axes,
    normalize_axis,
    rank_of,
    slice_along,
)
from np2tf.arrays.operands.conversion import as_tensor, cast, promote
from np2tf.arrays.tensors.axis_reductions import reduce_sum
from np2tf.arrays.tensors.dtype_dispatch import COMPLEX, hidden_from_others
from np2tf.arrays.tensors.storage import staging_for_xla
from np2tf.arrays.tensors.violations import assert_same_size, record_violation
from np2tf.core.errors import NoGraphFormError, ShapeNeededError

__all__ = ["diff", "gradient", "interp", "trapezoid"]


def _lay_along(x: tf.Tensor, axis: int, ndim: int) -> tf.Tensor:
    """Return a row shaped to lie along one of `ndim` axes."""
    return tf.reshape(x, [-1 if k == axis else 1 for k in range(ndim)])


def _boundary(value: Any, a: tf.Tensor, axis: int) -> tf.Tensor:
    value = as_tensor(value)
    if rank_of(value) != 0:
        return value
    shape = tf.shape(a)
    return tf.broadcast_to(value, [1 if k == axis else shape[k] for k in range(rank_of(a))])


@op(np.diff)
def diff(a: Array, n: Int = 1, axis: Int = -1, prepend: Any = None, append: Any = None) -> tf.Tensor:
    """Return the n-th differences along an axis."""
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if rank_of(a) == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    along = normalize_axis(axis, rank_of(a))
    parts = [a]
    if prepend is not None:
        parts.insert(0, _boundary(prepend, a, along))
    if append is not None:
        parts.append(_boundary(append, a, along))
    if len(parts) > 1:
        a = tf.concat(promote(*parts), along)
    for _ in range(n):
        a = difference_along(a, along)
    return a


# -- gradient ------------------------------------------------------------------------------------------------


def _spacings(f: tf.Tensor, axes: tuple[int, ...], spacings: tuple[Any, ...]) -> list[Any]:
    """Return, for each axis, a step (a number or a tensor of no axes) or the steps between coordinates."""
    if not spacings:
        return [1.0] * len(axes)
    ranks = [rank_of(d) if isinstance(d, tf.Tensor) else 0 for d in spacings]
    if len(spacings) == 1 and ranks[0] == 0:
        return [spacings[0]] * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    steps = []
    for axis, distance, ndim in zip(axes, spacings, ranks):
        if ndim > 1:
            raise ValueError("distances must be either scalars or 1d")
        if ndim == 1:
            if not distance.shape[:1].is_compatible_with(f.shape[axis : axis + 1]):
                raise ValueError("when 1d, distances must match the length of the corresponding dimension")
            distance = assert_same_size(distance, 0, f, axis)
            distance = cast(distance, np.float64) if distance.dtype.is_integer else distance
            distance = distance[1:] - distance[:-1]
        steps.append(distance)
    return steps


def _weighted_sum(weights: tuple[Any, ...], parts: tuple[tf.Tensor, ...], dtype: np.dtype[Any]) -> tf.Tensor:
    total: Any = None
    for weight, values in zip(weights, parts):
        term = cast(values, dtype) * as_tensor(weight, dtype)
        total = term if total is None else total + term
    return total


def _edge(
    f: tf.Tensor, axis: int, h: Any, even: bool, edge_order: int, dtype: np.dtype[Any], last: bool
) -> tf.Tensor:
    """Return the one-sided derivative at the first or the last place of an axis."""
    if edge_order == 1:
        near, far = (
            (slice_along(f, axis, -1, None), slice_along(f, axis, -2, -1))
            if last
            else (slice_along(f, axis, 1, 2), slice_along(f, axis, 0, 1))
        )
        step = h if even else (h[-1] if last else h[0])
        return cast(near - far, dtype) / hidden_from_others(as_tensor(step, dtype))
    if last:
        parts = slice_along(f, axis, -3, -2), slice_along(f, axis, -2, -1), slice_along(f, axis, -1, None)
    else:
        parts = slice_along(f, axis, 0, 1), slice_along(f, axis, 1, 2), slice_along(f, axis, 2, 3)
    if even:
        weights = (0.5 / h, -2.0 / h, 1.5 / h) if last else (-1.5 / h, 2.0 / h, -0.5 / h)
        return _weighted_sum(weights, parts, dtype)
    a, b = (h[-2], h[-1]) if last else (h[0], h[1])
    if last:
        weights = b / (a * (a + b)), -(b + a) / (a * b), (2.0 * b + a) / (b * (a + b))
    else:
        weights = -(2.0 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b))
    return _weighted_sum(weights, parts, dtype)


def _derivative(f: tf.Tensor, axis: int, h: Any, edge_order: int, dtype: np.dtype[Any]) -> tf.Tensor:
    n = length(f, (axis,))
    if not isinstance(n, int):
        if staging_for_xla():
            raise ShapeNeededError("a gradient along an axis of unknown length")
        record_violation(n < edge_order + 1)
    elif n < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements "
            "are required."
        )
    even = not isinstance(h, tf.Tensor) or rank_of(h) == 0
    before, here, after = (
        slice_along(f, axis, None, -2),
        slice_along(f, axis, 1, -1),
        slice_along(f, axis, 2, None),
    )
    if even:
        inner = cast(after - before, dtype) / hidden_from_others(as_tensor(2.0 * h, dtype))
    else:
        a, b = h[:-1], h[1:]
        weights = -b / (a * (a + b)), (b - a) / (a * b), a / (b * (a + b))
        coefficients = tuple(_lay_along(weight, axis, rank_of(f)) for weight in weights)
        inner = _weighted_sum(coefficients, (before, here, after), dtype)
    ends = [_edge(f, axis, h, even, edge_order, dtype, last) for last in (False, True)]
    return tf.concat([ends[0], inner, ends[1]], axis)


@op(np.gradient)
def gradient(*args: Operand, axis: Axis = None, edge_order: int = 1) -> Any:
    """Return the gradient of a sampled function, by central differences."""
    f = as_tensor(args[0])
    axes = normalize_axes(axis, rank_of(f))
    steps = _spacings(f, axes, args[1:])
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    input_dtype = np.dtype(f.dtype.as_numpy_dtype)
    if input_dtype == np.bool_:
        raise TypeError("numpy boolean subtract, the `-` operator, is not supported")
    dtype = input_dtype if input_dtype.kind in "fc" else np.dtype(np.float64)
    f = cast(f, dtype)
    derivatives = [_derivative(f, along, h, edge_order, dtype) for along, h in zip(axes, steps)]
    return derivatives[0] if len(derivatives) == 1 else tuple(derivatives)


# -- integrals and interpolation -----------------------------------------------------------------------------


@op(np.trapezoid)
def trapezoid(y: Array, x: OptionalArray = None, dx: Operand = 1, axis: Int = -1) -> tf.Tensor:
    """Return integrals along an axis by the trapezoidal rule."""
    along = normalize_axis(axis, rank_of(y))
    steps = dx
    if x is not None:
        if rank_of(x) == 1:
            steps = _lay_along(difference_along(x, 0), along, rank_of(y))
        else:
            steps = difference_along(x, normalize_axis(axis, rank_of(x)))
    pairs = ufuncs.add.compute((slice_along(y, along, 1, None), slice_along(y, along, None, -1)))
    width, pairs = promote(steps, pairs)
    products = width * pairs
    if products.dtype.is_integer:
        products = cast(products, np.float64)
    half = products / tf.constant(2, products.dtype)
    return (
        cast(reduce_sum(cast(half, np.float32), along), np.float16)
        if half.dtype == tf.float16
        else reduce_sum(half, along)
    )


@op(np.interp)
def interp(
    x: Array, xp: Array, fp: Array, left: Any = None, right: Any = None, period: Any = None
) -> tf.Tensor:
    """Interpolate linearly between points."""
    if COMPLEX[1] in (fp.dtype, xp.dtype) or COMPLEX[0] in (fp.dtype, xp.dtype):
        raise NoGraphFormError("interpolation of complex numbers")
    if x.dtype in COMPLEX:
        raise TypeError(
            "Cannot cast array data from dtype('complex128') to dtype('float64') according to the rule 'safe'"
        )
    x, xp, fp = (cast(value, np.float64) for value in (x, xp, fp))
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
    if rank_of(xp) != 1 or rank_of(fp) != 1:
        raise ValueError("object too deep for desired array")
    if xp.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    low = fp[0] if left is None else as_tensor(left, np.float64)
    high = fp[-1] if right is None else as_tensor(right, np.float64)
    if xp.shape[0] == 1:
        inside = tf.where(tf.math.is_nan(x), x, fp[0])
    else:
        last = tf.shape(xp, out_type=tf.int64)[0] - 2
        place = tf.clip_by_value(positions(xp, x, "right") - 1, tf.constant(0, tf.int64), last)
        slopes = (fp[1:] - fp[:-1]) / (xp[1:] - xp[:-1])
        slope, start, value = (tf.gather(of, place) for of in (slopes, xp, fp))
        end, end_value = tf.gather(xp, place + 1), tf.gather(fp, place + 1)
        line = slope * (x - start) + value
        # If infinite points make this NaN, interpolate from the other end, as NumPy does.
        line = tf.where(tf.math.is_nan(line), slope * (x - end) + end_value, line)
        line = tf.where(tf.math.is_nan(line) & (value == end_value), value, line)
        exact = tf.where(x == xp[-1], fp[-1], tf.where(x == start, value, line))
        inside = with_derivative_of(line, tf.stop_gradient(exact))
        inside = tf.where(tf.math.is_nan(x), x, inside)
    return tf.where(x < xp[0], low, tf.where(x > xp[-1], high, inside))


def _periodic(x: tf.Tensor, xp: tf.Tensor, fp: tf.Tensor, period: Any) -> tuple[tf.Tensor, ...]:
    period = as_tensor(period, np.float64)
    static_period = tf.get_static_value(period)
    if static_period is not None and static_period == 0:
        raise ValueError("period must be a non-zero value")
    period = tf.abs(period)
    if rank_of(xp) != 1 or rank_of(fp) != 1:
        raise ValueError("Data points must be 1-D sequences")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length")
    x, xp = remainder(x, period), remainder(xp, period)
    order = tf.argsort(xp, stable=True)
    xp, fp = tf.gather(xp, order), tf.gather(fp, order)
    return (
        x,
        tf.concat([xp[-1:] - period, xp, xp[:1] + period], 0),
        tf.concat([fp[-1:], fp, fp[:1]], 0),
    )
