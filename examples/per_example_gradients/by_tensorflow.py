"""Gradients per example as a user of TensorFlow writes them, in two ways."""

from __future__ import annotations

import tensorflow as tf


def gradient(w1: tf.Tensor, x: tf.Tensor, label: tf.Tensor, w2: tf.Tensor) -> tf.Tensor:
    """Return the gradient of one example's loss."""
    with tf.GradientTape() as tape:
        tape.watch(w1)
        scores = tf.nn.relu(x[None] @ w1) @ w2
        value = tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(label[None], scores))
    return tape.gradient(value, w1)


def one_by_one(w1: tf.Tensor, x: tf.Tensor, labels: tf.Tensor, w2: tf.Tensor) -> tf.Tensor:
    """Compute the gradients by `tf.map_fn`."""
    return tf.map_fn(lambda one: gradient(w1, *one, w2), (x, labels), fn_output_signature=x.dtype)


def at_once(w1: tf.Tensor, x: tf.Tensor, labels: tf.Tensor, w2: tf.Tensor) -> tf.Tensor:
    """Compute the gradients by `tf.vectorized_map`."""
    return tf.vectorized_map(lambda one: gradient(w1, *one, w2), (x, labels))
