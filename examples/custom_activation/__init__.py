"""A custom activation with a mask: compiled by XLA, differentiated, and in a Keras layer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

import np2tf
from examples.common.cases import (
    COMPILED,
    Calls,
    Case,
    jax_call,
    np2tf_calls,
    numpy_call,
    tensorflow_calls,
)
from examples.custom_activation import by_tensorflow, source


def cases(quick: bool) -> Iterator[Case]:
    """Yield the activation, its derivative, and a Keras model that has it."""
    size = 1_000 if quick else 1_000_000
    x = 3 * np.random.default_rng(0).normal(size=size)
    eager = np2tf.translate(source.activation), np2tf.grad(source.total)
    compiled = (
        np2tf.jit(function, tier="compile") for function in (source.activation, np2tf.grad(source.total))
    )
    for name, function, jitted in zip(("activation", "derivative"), eager, compiled, strict=True):
        calls = {
            **numpy_call(getattr(source, name), x),
            **np2tf_calls(function, jitted, x),
            **tensorflow_calls(getattr(by_tensorflow, name), x),
            **jax_call("examples.custom_activation.by_jax", name, x),
        }
        yield Case(f"custom {name}", f"{size:,}", calls)
    yield Case("Keras model with the activation", "batch of 1,024", keras_calls())


def keras_calls() -> Calls:
    """Return calls of a Keras model with the NumPy activation and with TensorFlow's, compiled by XLA."""
    inputs = np.random.default_rng(0).normal(size=(1024, 32))
    first = network(by_tensorflow.activation)
    second = network(np2tf.translate(source.activation))
    second.set_weights(first.get_weights())
    w1, b1, w2, b2 = first.get_weights()
    by_hand, translated = (tensorflow_calls(model, inputs) for model in (first, second))
    return {
        **numpy_call(lambda x: source.activation(x @ w1 + b1) @ w2 + b2, inputs),
        COMPILED: translated["tf.function, XLA"],
        **by_hand,
    }


def network(activation: Callable[[Any], Any]) -> keras.Model:
    """Return a model with one hidden layer."""
    hidden = keras.layers.Dense(256, activation, dtype="float64")
    return keras.Sequential(
        [keras.Input((32,), dtype="float64"), hidden, keras.layers.Dense(1, dtype="float64")]
    )
