"""Changes of a loop's body: values that XLA computes once for all its kernels, and other values."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from np2tf.tnp._slicing.pins import pin_values


def materialize(
    counter: tf.Tensor, tensors: Sequence[tf.Tensor], results: Sequence[tf.Tensor]
) -> list[tf.Tensor]:
    """Materialize `tensors` for all their present uses.

    Args:
        counter: the loop's counter, an integer that is never negative.
        tensors: the tensors to materialize.
        results: the results of the body.

    Returns:
        The new results of the body.
    """
    uses = [
        (consumer, k, n)
        for n, tensor in enumerate(tensors)
        for consumer in tensor.consumers()
        for k, operand in enumerate(consumer.inputs)
        if operand is tensor
    ]
    values = pin_values(counter, tensors)
    for consumer, k, n in uses:
        consumer._update_input(k, values[n])
    replacements = {id(tensor): value for tensor, value in zip(tensors, values, strict=True)}
    return [replacements.get(id(result), result) for result in results]


def replace_uses(old: tf.Tensor, new: tf.Tensor, results: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Let all present uses of a tensor take another one.

    Args:
        old: the tensor.
        new: the other tensor.
        results: the results of the body.

    Returns:
        The new results of the body.
    """
    for consumer in list(old.consumers()):
        for k, operand in enumerate(consumer.inputs):
            if operand is old:
                consumer._update_input(k, new)
    return [new if result is old else result for result in results]
