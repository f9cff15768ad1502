"""The activations as a user of TensorFlow writes them."""

from __future__ import annotations

import math

import tensorflow as tf


def sigmoid(x: tf.Tensor) -> tf.Tensor:
    """Return the logistic function."""
    return 1.0 / (1.0 + tf.exp(-x))


def gelu(x: tf.Tensor) -> tf.Tensor:
    """Return the approximation of GELU by `tanh`."""
    return 0.5 * x * (1.0 + tf.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3)))
