"""Keras' own layer with a kernel that NumPy code computes, under `tf.variable_creator_scope`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

import np2tf
from examples.common.cases import (
    COMPILED,
    EAGER,
    TF_EAGER,
    TF_XLA,
    Case,
    jax_call,
    numpy_call,
    tensorflow_calls,
)
from examples.weight_normalisation import by_tensorflow, source


class ComputedKernel:
    """Takes the place of a layer's variable; its value is computed from two variables at each use.

    Args:
        kernel: the function of direction and length.
        direction: the variable that Keras has asked for.
    """

    def __init__(self, kernel: Callable[..., Any], direction: tf.Variable) -> None:
        self._kernel = kernel
        self.direction = direction
        self.length = tf.Variable(tf.norm(direction, axis=0))
        self.shape, self.dtype = direction.shape, direction.dtype

    def __tf_tensor__(self, dtype: tf.DType | None = None, name: str | None = None) -> tf.Tensor:
        return tf.convert_to_tensor(self._kernel(self.direction, self.length), dtype, name=name)


def layer(
    kernel: Callable[..., Any], start: np.ndarray, units: int
) -> tuple[keras.layers.Dense, ComputedKernel]:
    """Return a layer of Keras whose kernel is computed, and the kernel."""
    kernels = []

    def creator(next_creator: Callable[..., tf.Variable], **kwargs: Any) -> Any:
        variable = next_creator(**kwargs)
        if kwargs["name"] != "kernel":
            return variable
        kernels.append(ComputedKernel(kernel, variable))
        return kernels[0]

    dense = keras.layers.Dense(
        units, use_bias=False, kernel_initializer=lambda *_, **__: start, dtype="float64"
    )
    with tf.variable_creator_scope(creator):
        dense.build((None, len(start)))
    return dense, kernels[0]


def gradient_of(dense: keras.layers.Dense, computed: ComputedKernel) -> Callable[..., Any]:
    """Return the gradient of the layer's loss with respect to direction and length."""

    def gradient(x: tf.Tensor, y: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            value = tf.reduce_mean((dense(x) - y) ** 2)
        return tape.gradient(value, (computed.direction, computed.length))

    return gradient


def cases(quick: bool) -> Iterator[Case]:
    """Yield the gradient for each number of units."""
    for units in (4,) if quick else (16, 64, 256):
        rng = np.random.default_rng(0)
        start = rng.normal(size=(units, units))
        x, y = rng.normal(size=(2, 128, units))
        ours = gradient_of(*layer(np2tf.translate(source.kernel), start, units))
        by_hand = gradient_of(*layer(by_tensorflow.kernel, start, units))
        translated = tensorflow_calls(ours, x, y)
        args = start, np.linalg.norm(start, axis=0), x, y
        calls = {
            **numpy_call(source.gradient, *args),
            EAGER: translated[TF_EAGER],
            COMPILED: translated[TF_XLA],
            **tensorflow_calls(by_hand, x, y),
            **jax_call("examples.weight_normalisation.by_jax", "gradient", *args),
        }
        yield Case("gradient of the layer's loss, by its units", str(units), calls)
