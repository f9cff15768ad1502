"""Running results in log2(n) steps, and products whose derivatives are right where factors are zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from np2tf.arrays.tensors.axis_reductions import reduce_prod
from np2tf.arrays.tensors.tapes import may_record

# -- associative ---------------------------------------------------------------------------------------------
# Reductions and running results of associative functions, in log2(n) steps.


def tree_reduce(
    function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], x: tf.Tensor, axis: int, keepdims: bool
) -> tf.Tensor:
    """Reduce along one axis of known length by an associative function, in log2(n) steps."""
    n = x.shape[axis]
    while n > 1:
        half = n // 2
        first, second, remainder = tf.split(x, [half, half, n - 2 * half], axis)
        x = function(first, second)
        if n % 2:
            x = tf.concat([x, remainder], axis)
        n = half + n % 2
    return x if keepdims else tf.squeeze(x, axis)


def scan(function: Callable[[tf.Tensor, tf.Tensor], tf.Tensor], x: tf.Tensor, axis: int) -> tf.Tensor:
    """Return running results of an associative function along an axis of known length, in log2(n) steps."""
    n = x.shape[axis]
    step = 1
    while step < n:
        head, tail = tf.split(x, [step, n - step], axis)
        predecessors, _ = tf.split(x, [n - step, step], axis)
        x = tf.concat([head, function(predecessors, tail)], axis)
        step *= 2
    return x


# -- products ------------------------------------------------------------------------------------------------
# Products along axes whose derivatives of any order are right, also where factors are zero.
#
# TensorFlow divides by the factors in the derivative of a running product, and sets it to zero where a
# factor is zero. The derivative of a product over axes is written with running products, so that its
# derivative has the same error.


def has_derivatives(x: tf.Tensor) -> bool:
    """Return whether someone may differentiate: in graphs, and where a tape records."""
    return (x.dtype.is_floating or x.dtype.is_complex) and (not tf.executing_eagerly() or may_record())


def running_product(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the running products along an axis."""
    if x.dtype.is_complex and x.shape[axis] is not None:
        return scan(tf.multiply, x, axis)  # XLA has no operation for complex numbers
    if not has_derivatives(x):
        return gen_math_ops.Cumprod(x=x, axis=axis, exclusive=False, reverse=False)

    @tf.custom_gradient
    def products(x: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            conjugates = tf.math.conj(x)
            return _exclusive_product(conjugates, axis) * _later_terms(conjugates, upstream, axis)

        return gen_math_ops.Cumprod(x=x, axis=axis, exclusive=False, reverse=False), gradient

    return products(x)


def total_product(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    """Return the product over axes."""
    rank = x.shape.rank
    if rank is None or not axes or not has_derivatives(x):
        return _raw_product(x, axes, keepdims)
    places = {axis % rank for axis in axes}
    order = [*(axis for axis in range(rank) if axis not in places), *sorted(places)]

    @tf.custom_gradient
    def product(x: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            rows = tf.transpose(tf.math.conj(x), order)
            shape = tf.shape(rows)
            front, count = shape[: rank - len(places)], reduce_prod(shape[rank - len(places) :])
            factors = tf.reshape(rows, tf.concat([front, [count]], 0))
            before = _exclusive_product(factors, -1)
            behind = tf.reverse(_exclusive_product(tf.reverse(factors, [-1]), -1), [-1])
            terms = tf.reshape(upstream, tf.concat([front, [1]], 0)) * before * behind
            return tf.transpose(tf.reshape(terms, shape), np.argsort(order))

        return _raw_product(x, axes, keepdims), gradient

    return product(x)


def _raw_product(x: tf.Tensor, axes: tuple[int, ...], keepdims: bool) -> tf.Tensor:
    if not axes:
        return x
    # The raw operation: tf.reduce_prod costs three times as much eagerly.
    return gen_math_ops.Prod(input=x, axis=np.array(axes, np.int32), keep_dims=bool(keepdims))


def _exclusive_product(x: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the products of the elements before each element."""
    first, before = _part(x, axis, slice(None, 1)), _part(x, axis, slice(None, -1))
    return running_product(tf.concat([tf.ones_like(first), before], axis), axis)


def _part(x: tf.Tensor, axis: int, part: slice) -> tf.Tensor:
    return x[(slice(None),) * (axis % x.shape.rank) + (part,)]


def _later_terms(x: tf.Tensor, upstream: tf.Tensor, axis: int) -> tf.Tensor:
    """Return the s with ``s[i] = upstream[i] + x[i + 1] * s[i + 1]``, in log2(n) steps."""
    factors, terms = _shift(x, 1, axis), upstream

    def step(distance: Any, factors: tf.Tensor, terms: tf.Tensor) -> tuple[Any, tf.Tensor, tf.Tensor]:
        terms = terms + factors * _shift(terms, distance, axis)
        return distance * 2, factors * _shift(factors, distance, axis), terms

    length = x.shape[axis]
    if length is None:
        return _repeat_in_graph(step, factors, terms, tf.shape(x)[axis])
    distance = 1
    while distance < length:
        distance, factors, terms = step(distance, factors, terms)
    return terms


def _repeat_in_graph(
    step: Callable[..., Any], factors: tf.Tensor, terms: tf.Tensor, length: tf.Tensor
) -> tf.Tensor:
    shape = terms.shape
    return tf.while_loop(
        lambda distance, *_: distance < length,
        step,
        (tf.constant(1), factors, terms),
        (tf.TensorShape([]), shape, shape),
        maximum_iterations=32,
    )[2]


def _shift(x: tf.Tensor, distance: Any, axis: int) -> tf.Tensor:
    """Move the elements to the front, and fill the end with zeros."""
    tail, head = _part(x, axis, slice(distance, None)), _part(x, axis, slice(None, distance))
    result = tf.concat([tail, tf.zeros_like(head)], axis)
    return tf.ensure_shape(result, x.shape)
