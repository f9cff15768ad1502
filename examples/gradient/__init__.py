"""The gradient of a network's loss: one compiled function instead of many small operations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.gradient import by_tensorflow, source

BATCHES = (8, 64, 512, 4096)


def cases(quick: bool) -> Iterator[Case]:
    """Yield the gradient for each size of the batch."""
    gradient = np2tf.grad(source.loss)
    compiled = np2tf.jit(gradient, tier="compile")
    for batch in BATCHES[:2] if quick else BATCHES:
        rng = np.random.default_rng(0)
        params = source.initial(rng, 32, 64, 10)
        args = params, rng.normal(size=(batch, 32)), rng.integers(0, 10, batch)
        calls = {
            **numpy_call(source.gradient, *args),
            **np2tf_calls(gradient, compiled, *args),
            **tensorflow_calls(by_tensorflow.gradient, *args),
            **jax_call("examples.gradient.by_jax", "gradient", *args),
        }
        yield Case("gradient of a network, by batch", f"{batch:,}", calls)
