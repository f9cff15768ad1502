"""The vectors as a user of TensorFlow writes them, with ragged tensors."""

from __future__ import annotations

import tensorflow as tf


def vectors(sentences: tf.RaggedTensor, table: tf.Tensor) -> tf.Tensor:
    """Return the vector of each sentence."""
    words = tf.reduce_mean(tf.gather(table, sentences), axis=2)
    return tf.reduce_mean(tf.tanh(words), axis=1)


def gradient(sentences: tf.RaggedTensor, table: tf.Tensor) -> tf.Tensor:
    """Return the derivative of half the sum of the squares of all vectors."""
    with tf.GradientTape() as tape:
        tape.watch(table)
        value = 0.5 * tf.reduce_sum(vectors(sentences, table) ** 2)
    return tf.convert_to_tensor(tape.gradient(value, table))
