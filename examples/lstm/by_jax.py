"""The cell as a user of JAX writes it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array, lax


def cell(x: Array, h: Array, c: Array, kernel: Array, recurrent: Array, bias: Array) -> tuple[Array, Array]:
    """Return the new states."""
    i, f, g, o = jnp.split(x @ kernel + h @ recurrent + bias, 4, axis=1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def layer(xs: Array, h: Array, c: Array, kernel: Array, recurrent: Array, bias: Array) -> tuple[Array, Array]:
    """Return the states after all inputs."""
    return lax.scan(lambda state, x: (cell(x, *state, kernel, recurrent, bias), None), (h, c), xs)[0]
