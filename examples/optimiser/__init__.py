"""A custom optimiser: the update of many weights as one compiled function, and in Keras' training step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import keras
import numpy as np

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.optimiser import by_tensorflow, source

RATE = 0.01


def cases(quick: bool) -> Iterator[Case]:
    """Yield the update of many small weights, and steps of Keras' training."""
    rng = np.random.default_rng(0)
    shapes = [(64, 64), (64,)] * (2 if quick else 20)
    weights, gradients = ([rng.normal(size=shape) for shape in shapes] for _ in range(2))
    states = [{"mean": np.zeros(shape), "square": np.zeros(shape)} for shape in shapes]
    args = weights, gradients, states, np.float64(RATE), np.float64(1)
    eager, compiled = np2tf.translate(source.update_all), np2tf.jit(source.update_all, tier="compile")
    calls = {
        **numpy_call(source.update_all, *args),
        **np2tf_calls(eager, compiled, *args),
        **tensorflow_calls(by_tensorflow.update_all, *args),
        **jax_call("examples.optimiser.by_jax", "update_all", *args),
    }
    yield Case("update of weights, by their number", str(len(shapes)), calls)
    steps = 2 if quick else 10
    makers = {
        "np2tf.keras.Optimizer": lambda: np2tf.keras.Optimizer(source.update, ["mean", "square"], RATE),
        "by hand": lambda: by_tensorflow.Optimizer(RATE),
    }
    training = {
        f"{name}, {'eager' if eager else 'compiled'}": training_call(make, eager, steps)
        for name, make in makers.items()
        for eager in (True, False)
    }
    yield Case("training steps of Keras", str(steps), training)


def training_call(
    make: Callable[[], keras.optimizers.Optimizer], eager: bool, steps: int
) -> Callable[[], list[Any]]:
    """Return a call that trains a small model from the same start, and returns its weights."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(256, 32)), rng.normal(size=(256, 1))
    layers = [keras.layers.Dense(64, "tanh", dtype="float64") for _ in range(4)]
    model = keras.Sequential([keras.Input((32,)), *layers, keras.layers.Dense(1, dtype="float64")])
    start = [rng.normal(size=weight.shape) / 8 for weight in model.get_weights()]
    optimiser = make()
    model.compile(optimiser, loss="mse", run_eagerly=eager)
    optimiser.build(model.trainable_variables)
    zeros = [np.zeros(one.shape) for one in optimiser.variables]
    zeros[1] = np.float64(RATE)

    def call() -> list[Any]:
        model.set_weights(start)
        for variable, zero in zip(optimiser.variables, zeros, strict=True):
            variable.assign(zero)
        for _ in range(steps):
            model.train_on_batch(x, y)
        return model.get_weights()

    return call
