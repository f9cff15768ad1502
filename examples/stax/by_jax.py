"""The same network with JAX's own Stax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array
from jax.example_libraries import stax

_, apply = stax.serial(
    *(stax.Conv(8, (3, 3)), stax.Relu, stax.AvgPool((2, 2), (2, 2)), stax.Conv(16, (2, 2)), stax.Tanh),
    *(
        stax.Flatten,
        stax.Dense(32),
        stax.FanOut(2),
        stax.parallel(stax.Identity, stax.serial(stax.Dense(32), stax.Tanh)),
    ),
    *(stax.FanInSum, stax.Dense(4), stax.LogSoftmax),
)


def loss(params: Any, images: Array, labels: Array) -> Array:
    """Return the mean cross entropy."""
    *first, (w3, b3), residual, last, end = params
    layers = [*first, (w3, b3), (), ((), residual), (), last, end]
    return -jnp.mean(jnp.sum(apply(layers, images) * labels, axis=-1))


gradient = jax.grad(loss)
per_example = jax.vmap(lambda params, image, label: gradient(params, image[None], label[None]), (None, 0, 0))
