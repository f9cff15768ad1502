"""Polynomials, and wrappers that compute operands of single precision in double precision."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.dtype_dispatch import constant


def polynomial(x: tf.Tensor, coefficients: Sequence[float]) -> tf.Tensor:
    """Return ``coefficients[0] + coefficients[1] * x + …``."""
    result = tf.fill(tf.shape(x), constant(coefficients[-1], x))
    for coefficient in reversed(coefficients[:-1]):
        result = result * x + constant(coefficient, x)
    return tf.ensure_shape(result, x.shape)


def compute_in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes in float64, and returns the dtype of its operands."""

    @functools.wraps(function)
    def call(*operands: tf.Tensor) -> Any:
        narrow = operands[0].dtype
        if narrow == tf.float64:
            return function(*operands)
        return tf.cast(function(*[tf.cast(operand, tf.float64) for operand in operands]), narrow)

    return call


def choose(default: tf.Tensor, *cases: tuple[tf.Tensor, Any]) -> tf.Tensor:
    """Return, for each element, the value of the first case whose condition holds; `default` if none does."""
    for condition, value in reversed(cases):
        value = value if isinstance(value, tf.Tensor) else constant(value, default)
        default = tf.where(condition, value, default)
    return default


def is_whole(x: tf.Tensor) -> tf.Tensor:
    """Return where a number is finite and has no fractional part."""
    return tf.equal(tf.floor(x), x) & tf.math.is_finite(x)
