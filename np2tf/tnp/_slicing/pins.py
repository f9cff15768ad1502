"""Values in a loop's body that XLA computes only once."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf

from np2tf.tnp._tensor.storage import staged_device


def pin_values(counter: tf.Tensor, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return `tensors`, each computed only once on a CPU. An accelerator would wait for the host at each
    conditional, and its compiler weighs what it computes twice.

    Args:
        counter: the counter of the loop, an integer tensor that is never negative.
        tensors: tensors of the loop's body.
    """
    if staged_device() != "cpu":
        return list(tensors)
    # XLA neither fuses a conditional nor computes it twice, unless it knows that the predicate is true.
    values = tf.cond(
        counter >= 0,
        lambda: [tf.identity(tensor) for tensor in tensors],
        lambda: [tf.zeros_like(tensor) for tensor in tensors],
    )
    return list(values)
