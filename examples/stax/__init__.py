"""A network of layers in the style of Stax: loss, gradient, gradients per example, and training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.stax import by_tensorflow, source

translated = np2tf.import_module("examples.stax.source")


def cases(quick: bool) -> Iterator[Case]:
    """Yield the loss, its gradient, and the gradients per example."""
    rng = np.random.default_rng(0)
    count = 4 if quick else 64
    images, labels = source.images_of(rng, count)
    args = source.init(rng, images.shape)[1], images, labels
    gradient = np2tf.grad(translated.loss)
    functions = {
        "loss": translated.loss,
        "gradient": gradient,
        "per_example": np2tf.vmap(np2tf.grad(translated.loss_of_one), (None, 0, 0)),
    }
    for name, function in functions.items():
        calls = {
            **(numpy_call(source.loss, *args) if name == "loss" else {}),
            **np2tf_calls(function, np2tf.jit(function, tier="compile"), *args),
            **tensorflow_calls(getattr(by_tensorflow, name), *args),
            **jax_call("examples.stax.by_jax", name, *args),
        }
        panel = {"loss": "loss of the network", "gradient": "gradient"}.get(name, "gradients per example")
        yield Case(panel, f"batch of {count}", calls, tolerance=1e-8)


def notes(quick: bool) -> Iterator[str]:
    """Train, and yield the shares of right answers."""
    rng = np.random.default_rng(1)
    images, labels = source.images_of(rng, 64 if quick else 512)
    params = source.init(rng, images.shape)[1]
    gradient = np2tf.jit(np2tf.grad(translated.loss), tier="compile")
    shares = [accuracy(params)]
    for _ in range(5 if quick else 100):
        params = tf.nest.map_structure(lambda p, g: p - 0.3 * g, params, gradient(params, images, labels))
    shares.append(accuracy(params))
    yield "right answers to 500 new images: {:.0%} before training, {:.0%} after it".format(*shares)


def accuracy(params: Any) -> float:
    """Return the share of right answers to new images."""
    images, labels = source.images_of(np.random.default_rng(2), 500)
    return float(np.mean(np.argmax(source.apply(params, images), 1) == np.argmax(labels, 1)))
