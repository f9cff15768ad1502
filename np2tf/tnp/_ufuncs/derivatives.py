"""Functions with given derivatives, which are right also where a formula has cases."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from np2tf.tnp._tensor.dtype_dispatch import broadcast_together, needs_derivatives

Function = Callable[..., tf.Tensor]


def differentiate_by(*partials: Function | str) -> Callable[[Function], Function]:
    """Return a decorator of functions of real numbers, which get their partial derivatives.

    Args:
        *partials: for each operand the derivative, a function of all operands; or the name of TensorFlow's
            operation if nothing computes it, which makes a gradient an error and not zero.
    """

    def decorate(function: Function) -> Function:
        @tf.custom_gradient
        def call(*operands: tf.Tensor) -> Any:
            def gradient(upstream: tf.Tensor) -> list[tf.Tensor]:
                # An infinite derivative of a result that is not used is none.
                return [
                    tf.zeros_like(upstream)
                    if isinstance(partial, str)
                    else tf.math.multiply_no_nan(partial(*operands), upstream)
                    for partial in partials
                ]

            return function(*operands), gradient

        @functools.wraps(function)
        def differentiable(*operands: tf.Tensor) -> tf.Tensor:
            if not needs_derivatives():
                return function(*operands)
            operands = broadcast_together(*operands)
            return call(
                *(
                    _refuse_gradient(operand, partial) if isinstance(partial, str) else operand
                    for operand, partial in zip(operands, partials, strict=True)
                )
            )

        return differentiable

    return decorate


def _refuse_gradient(x: tf.Tensor, name: str) -> tf.Tensor:
    """Return x, whose gradient is an error as that of an operation without a gradient."""

    @tf.custom_gradient
    def identity(x: tf.Tensor) -> Any:
        def gradient(upstream: tf.Tensor) -> tf.Tensor:
            raise LookupError(f"gradient registry has no entry for: {name}")

        return tf.identity(x), gradient

    return identity(x)
