"""Values in a loop's body that XLA computes only once."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def pin_values(counter: tf.Tensor, tensors: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """Return `tensors`, each computed only once.

    Args:
        counter: the counter of the loop, an integer tensor that is never negative.
        tensors: tensors of the loop's body.
    """
    # XLA neither fuses a conditional nor computes it twice, unless it knows that the predicate is true.
    values = tf.cond(
        counter >= 0,
        lambda: [tf.identity(tensor) for tensor in tensors],
        lambda: [tf.zeros_like(tensor) for tensor in tensors],
    )
    return list(values)
