"""The vectors as a user of JAX writes them: JAX has no ragged arrays, so that rows are padded and masked."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array


def vectors(characters: Array, table: Array) -> Array:
    """Return the vector of each sentence; -1 is no character, and an empty row no word."""
    is_character = characters >= 0
    letters = jnp.where(is_character[..., None], table[characters], 0.0)
    lengths = jnp.sum(is_character, axis=2)
    words = jnp.sum(letters, axis=2) / jnp.maximum(lengths, 1)[..., None]
    is_word = lengths > 0
    total = jnp.sum(jnp.where(is_word[..., None], jnp.tanh(words), 0.0), axis=1)
    return total / jnp.sum(is_word, axis=1)[:, None]


def loss(table: Array, characters: Array) -> Array:
    """Return half the sum of the squares of all vectors."""
    return 0.5 * jnp.sum(vectors(characters, table) ** 2)


def gradient(characters: Array, table: Array) -> Array:
    """Return the derivative of the loss."""
    return jax.grad(loss)(table, characters)
