"""The kernel as a user of TensorFlow writes it."""

from __future__ import annotations

import tensorflow as tf


def kernel(direction: tf.Tensor, length: tf.Tensor) -> tf.Tensor:
    """Return the kernel."""
    return direction * (length / tf.sqrt(tf.reduce_sum(direction**2, axis=0)))
