"""The Jacobian as a user of TensorFlow writes it: row by row, and all rows at once."""

from __future__ import annotations

import tensorflow as tf


def network(x: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Return the result of the network."""
    for w in tf.unstack(weights):
        x = x + tf.tanh(tf.linalg.matvec(w, x))
    return x


def at_once(x: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Compute the Jacobian with the parallel loop of TensorFlow (pfor)."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = network(x, weights)
    return tape.jacobian(y, x)


def row_by_row(x: tf.Tensor, weights: tf.Tensor) -> tf.Tensor:
    """Compute the Jacobian with a loop over its rows."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = network(x, weights)
    return tape.jacobian(y, x, experimental_use_pfor=False)
