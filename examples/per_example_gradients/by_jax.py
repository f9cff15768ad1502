"""Gradients per example as a user of JAX writes them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def loss(w1: Array, x: Array, labels: Array, w2: Array) -> Array:
    """Return the loss of one example."""
    return -jnp.sum(labels * jax.nn.log_softmax(jax.nn.relu(x @ w1) @ w2))


gradients = jax.vmap(jax.grad(loss), (None, 0, 0, None))
