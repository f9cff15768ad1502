"""Logarithms of sums of exponentials, along axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from np2tf.scipy.kernels.declare import native, refusal
from np2tf.tnp._dispatch.argument_types import Array, Axis
from np2tf.tnp._operands.axis_arguments import rank_of
from np2tf.tnp._operands.conversion import as_tensor, cast
from np2tf.tnp._operands.promotion import inexact_type
from np2tf.tnp._tensor.dtype_dispatch import constant
from np2tf.tnp._tensor.reductions_of_axes import reduce_max, reduce_sum


def _inexact(x: tf.Tensor, *operands: tf.Tensor) -> tf.Tensor:
    """Convert an operand to the floating-point dtype of the result."""
    if x.dtype.is_complex or x.dtype == tf.float16:
        raise refusal(f"sums of exponentials of {x.dtype.name}")
    return cast(x, inexact_type(x, *operands))


def _axes(x: tf.Tensor, axis: Any) -> list[int]:
    """Return the axes that an argument names, as a list."""
    rank = rank_of(x)
    if axis is None:
        return list(range(rank))
    return [int(k) for k in (axis if isinstance(axis, tuple) else (axis,))]


def _largest(x: tf.Tensor, axes: list[int]) -> tf.Tensor:
    """Return the largest numbers along `axes`, with 0 in the place of infinite numbers."""
    largest = reduce_max(x, axes, keepdims=True)
    return tf.where(tf.math.is_finite(largest), largest, constant(0, x))


@native("scipy.special.logsumexp")
def logsumexp(a: Array, axis: Axis = None, b: Any = None, keepdims: bool = False) -> tf.Tensor:
    """Return the logarithm of the sum of exponentials.

    Args:
        a: array of real numbers.
        axis: the axis or axes to sum over; None is all of them.
        b: array of real factors of the exponentials.
        keepdims: whether the summed axes remain with length 1.

    Returns:
        An array of floats.

    Raises:
        StagingError: an operand is complex or float16, or `a` is empty or of unknown size.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.logsumexp.html.
    """
    if a.shape.num_elements() in (0, None):
        raise refusal("logsumexp of an array that is empty or of unknown size")
    if b is not None:
        weights = as_tensor(b)
        if weights.dtype.is_complex:
            raise refusal("logsumexp with complex weights")
        a, weights = _inexact(a, weights), _inexact(weights, a)
        a, weights = tf.broadcast_to(a, tf.broadcast_static_shape(a.shape, weights.shape)), weights
        a = tf.where(tf.equal(weights, constant(0, weights)), constant(-np.inf, a), a)
    a = _inexact(a)
    axes = _axes(a, axis)
    largest = _largest(a, axes)
    if b is None:
        # The sum leaves out the largest numbers: their exponentials are 1, and log1p keeps small rests exact.
        is_largest = tf.equal(a, largest)
        count = reduce_sum(tf.cast(is_largest, a.dtype), axes, keepdims=True)
        terms = tf.where(is_largest, constant(0, a), tf.exp(a - largest))
        sum = reduce_sum(terms, axes, keepdims=True)
        found = count > constant(0, count)
        safe = tf.where(found, count, constant(1, count))
        result = tf.where(
            found, tf.math.log1p(sum / safe) + tf.math.log(safe) + largest, tf.math.log(sum) + largest
        )
    else:
        sum = reduce_sum(weights * tf.exp(a - largest), axes, keepdims=True)
        result = tf.math.log(sum) + largest
    return result if keepdims else tf.squeeze(result, axes)


@native("scipy.special.softmax")
def softmax(x: Array, axis: Axis = None) -> tf.Tensor:
    """Return the exponentials divided by their sum.

    Args:
        x: array of real numbers.
        axis: the axis or axes to sum over; None is all of them.

    Returns:
        An array of floats in the shape of `x`.

    Raises:
        StagingError: `x` is complex or float16.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.softmax.html.
    """
    x = _inexact(x)
    axes = _axes(x, axis)
    powers = tf.exp(x - tf.stop_gradient(reduce_max(x, axes, keepdims=True)))
    return powers / reduce_sum(powers, axes, keepdims=True)


@native("scipy.special.log_softmax")
def log_softmax(x: Array, axis: Axis = None) -> tf.Tensor:
    """Return the logarithm of `softmax`.

    Args:
        x: array of real numbers.
        axis: the axis or axes to sum over; None is all of them.

    Returns:
        An array of floats in the shape of `x`.

    Raises:
        StagingError: `x` is complex or float16.

    See https://docs.scipy.org/doc/scipy/reference/generated/scipy.special.log_softmax.html.
    """
    x = _inexact(x)
    axes = _axes(x, axis)
    exponents = x - _largest(x, axes)
    return exponents - tf.math.log(reduce_sum(tf.exp(exponents), axes, keepdims=True))
