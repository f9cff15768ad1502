"""The activation as a user of JAX writes it, with `jnp.where`."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import Array

EDGE = math.pi / 2


def activation(x: Array) -> Array:
    """Return the activation; both sides of `jnp.where` have finite values and derivatives."""
    outside = jnp.abs(x) > EDGE
    far = jnp.where(outside, jnp.abs(x), 1.0)
    return jnp.where(outside, jnp.sign(x) * (1 + jnp.log(far / EDGE)), jnp.sin(x))


derivative = jax.grad(lambda x: jnp.sum(activation(x)))
