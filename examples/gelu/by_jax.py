"""The activations as a user of JAX writes them."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array


def sigmoid(x: Array) -> Array:
    """Return the logistic function."""
    return 1.0 / (1.0 + jnp.exp(-x))


def gelu(x: Array) -> Array:
    """Return the approximation of GELU by `tanh`."""
    return 0.5 * x * (1.0 + jnp.tanh(jnp.sqrt(2.0 / jnp.pi) * (x + 0.044715 * x**3)))
