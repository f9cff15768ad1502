"""Makes XLA compute values of a loop's body once, and not again in each kernel that uses them."""

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
