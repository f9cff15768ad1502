"""The transformer as a user of JAX writes it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import Array

from examples.transformer.source import HEADS, count_layers

Params = dict[str, Array]


def normalise(x: Array, scale: Array) -> Array:
    """Normalise the last axis."""
    x = x - jnp.mean(x, axis=-1, keepdims=True)
    return scale * x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-5)


def attention(x: Array, qkv: Array, join: Array) -> Array:
    """Return what each character takes from the characters before it."""
    batch, time, width = x.shape
    q, k, v = jnp.moveaxis((x @ qkv).reshape(batch, time, 3, HEADS, width // HEADS), (2, 3), (0, 2))
    scores = q @ jnp.swapaxes(k, -1, -2) / jnp.sqrt(width // HEADS)
    chances = jax.nn.softmax(jnp.where(jnp.tri(time, dtype=bool), scores, -jnp.inf))
    return jnp.swapaxes(chances @ v, 1, 2).reshape(batch, time, width) @ join


def loss(params: Params, tokens: Array) -> Array:
    """Return the mean cross entropy of the next characters."""
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    x = params["embedding"][inputs] + params["position"][: inputs.shape[1]]
    for k in range(count_layers(params)):
        x += attention(normalise(x, params[f"scale_a{k}"]), params[f"qkv{k}"], params[f"join{k}"])
        x += jax.nn.relu(normalise(x, params[f"scale_b{k}"]) @ params[f"up{k}"]) @ params[f"down{k}"]
    chances = jax.nn.log_softmax(normalise(x, params["scale"]) @ params["output"])
    return -jnp.mean(jnp.take_along_axis(chances, targets[..., None], -1))


def step(
    params: Params, means: Params, squares: Params, number: Array, tokens: Array
) -> tuple[Params, Params, Params, Array]:
    """Return the parameters and the state after one step of Adam, and the loss."""
    value, gradient = jax.value_and_grad(loss)(params, tokens)
    means = jax.tree.map(lambda mean, g: mean + 0.1 * (g - mean), means, gradient)
    squares = jax.tree.map(lambda square, g: square + 0.01 * (g**2 - square), squares, gradient)

    def updated(param: Array, mean: Array, square: Array) -> Array:
        return param - 0.003 * mean / (1 - 0.9**number) / (jnp.sqrt(square / (1 - 0.99**number)) + 1e-8)

    return jax.tree.map(updated, params, means, squares), means, squares, value
