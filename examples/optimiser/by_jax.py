"""The rule as a user of JAX writes it."""

from __future__ import annotations

import jax.numpy as jnp
from jax import Array

State = dict[str, Array]


def update(weight: Array, gradient: Array, state: State, rate: Array, step: Array) -> tuple[Array, State]:
    """Return the new weight and state."""
    mean = 0.9 * state["mean"] + 0.1 * gradient
    square = 0.999 * state["square"] + 0.001 * gradient**2
    direction = (mean / (1 - 0.9**step)) / (jnp.sqrt(square / (1 - 0.999**step)) + 1e-7)
    return weight - rate * (jnp.clip(direction, -2, 2) + 0.01 * weight), {"mean": mean, "square": square}


def update_all(
    weights: list[Array], gradients: list[Array], states: list[State], rate: Array, step: Array
) -> tuple[list[Array], list[State]]:
    """Return all new weights and states."""
    found = [update(*one, rate, step) for one in zip(weights, gradients, states, strict=True)]
    return [weight for weight, _ in found], [state for _, state in found]
