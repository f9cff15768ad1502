"""Operations with a derivative of their own, for tapes and in graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

#: Tensors of the operands -> tensors of the results, and the function from gradients of the results, in
#: TensorFlow's convention, to gradients of the operands.
Operation = Callable[
    [Sequence[tf.Tensor]], tuple[list[tf.Tensor], Callable[[Sequence[tf.Tensor]], list[Any]]]
]


def apply_operation(operation: Operation, operands: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return the results of an operation on tensors, recorded with the operation's own derivative."""

    def forward(*tensors: tf.Tensor) -> Any:
        results, backward = operation(tensors)

        def gradient(*gradients: tf.Tensor, variables: Any = None) -> Any:
            products = backward(gradients)
            input_gradients = [
                tf.zeros_like(tensor) if product is None else product
                for tensor, product in zip(tensors, products, strict=True)
            ]
            return (input_gradients, [None] * len(variables)) if variables else input_gradients

        return results, gradient

    if not operands:
        return operation([])[0]
    return list(tf.custom_gradient(forward)(*operands))
