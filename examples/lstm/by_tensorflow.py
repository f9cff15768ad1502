"""The cell as a user of TensorFlow has it: Keras' own, with the same weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import keras
import numpy as np
import tensorflow as tf

Step = Callable[[tf.Tensor, tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]


def cell(weights: Sequence[np.ndarray]) -> Step:
    """Return Keras' cell with these weights, as a function of the input and of both states."""
    layer = keras.layers.LSTMCell(len(weights[1]), dtype="float64")
    layer.build((None, len(weights[0])))
    layer.set_weights(list(weights))

    def step(x: tf.Tensor, h: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tuple(layer(x, (h, c))[1])

    return step


def layer(weights: Sequence[np.ndarray]) -> Step:
    """Return a loop of Keras' cell over inputs in time."""
    one = cell(weights)

    def steps(xs: tf.Tensor, h: tf.Tensor, c: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        if tf.executing_eagerly():
            for x in xs:
                h, c = one(x, h, c)
            return h, c
        count = xs.shape[0]
        return tf.while_loop(
            lambda t, h, c: t < count,
            lambda t, h, c: (t + 1, *one(xs[t], h, c)),
            (0, h, c),
            maximum_iterations=count,
        )[1:]

    return steps
