"""Reductions and running results of associative functions, in log2(n) steps."""

from __future__ import annotations

from collections.abc import Callable

import tensorflow as tf


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
