"""Newton's method as a user of TensorFlow writes it, with nested tapes."""

from __future__ import annotations

import tensorflow as tf


def loss(w: tf.Tensor, x: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Return the loss."""
    scores = tf.linalg.matvec(x, w)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits(labels, scores)
    return tf.reduce_mean(entropy) + 0.01 * tf.reduce_sum(w**2)


def newton(w: tf.Tensor, x: tf.Tensor, labels: tf.Tensor, steps: int) -> tf.Tensor:
    """Return the weights after some steps."""
    for _ in range(steps):
        with tf.GradientTape() as outer:
            outer.watch(w)
            with tf.GradientTape() as inner:
                inner.watch(w)
                value = loss(w, x, labels)
            gradient = inner.gradient(value, w)
        hessian = outer.jacobian(gradient, w)
        w = w - tf.linalg.solve(hessian, gradient[:, None])[:, 0]
    return w
