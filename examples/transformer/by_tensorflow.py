"""The transformer as a user of TensorFlow writes it."""

from __future__ import annotations

import tensorflow as tf

from examples.transformer.source import HEADS, count_layers

Params = dict[str, tf.Tensor]


def normalise(x: tf.Tensor, scale: tf.Tensor) -> tf.Tensor:
    """Normalise the last axis."""
    x = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    return scale * x * tf.math.rsqrt(tf.reduce_mean(x**2, axis=-1, keepdims=True) + 1e-5)


def attention(x: tf.Tensor, qkv: tf.Tensor, join: tf.Tensor) -> tf.Tensor:
    """Return what each character takes from the characters before it."""
    batch, time, width = x.shape
    parts = tf.reshape(x @ qkv, (batch, time, 3, HEADS, width // HEADS))
    q, k, v = tf.unstack(tf.transpose(parts, (2, 0, 3, 1, 4)))
    scores = tf.matmul(q, k, transpose_b=True) / (width // HEADS) ** 0.5
    seen = tf.linalg.band_part(tf.ones((time, time), tf.bool), -1, 0)
    chances = tf.nn.softmax(tf.where(seen, scores, tf.constant(float("-inf"), scores.dtype)))
    return tf.reshape(tf.transpose(chances @ v, (0, 2, 1, 3)), (batch, time, width)) @ join


def loss(params: Params, tokens: tf.Tensor) -> tf.Tensor:
    """Return the mean cross entropy of the next characters."""
    inputs, targets = tokens[:, :-1], tokens[:, 1:]
    x = tf.gather(params["embedding"], inputs) + params["position"][: inputs.shape[1]]
    for k in range(count_layers(params)):
        x += attention(normalise(x, params[f"scale_a{k}"]), params[f"qkv{k}"], params[f"join{k}"])
        x += tf.nn.relu(normalise(x, params[f"scale_b{k}"]) @ params[f"up{k}"]) @ params[f"down{k}"]
    scores = normalise(x, params["scale"]) @ params["output"]
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(targets, scores))


def step(
    params: Params, means: Params, squares: Params, number: tf.Tensor, tokens: tf.Tensor
) -> tuple[Params, Params, Params, tf.Tensor]:
    """Return the parameters and the state after one step of Adam, and the loss."""
    with tf.GradientTape() as tape:
        tape.watch(params)
        value = loss(params, tokens)
    gradient = {name: tf.convert_to_tensor(g) for name, g in tape.gradient(value, params).items()}
    means = {name: means[name] + 0.1 * (gradient[name] - means[name]) for name in params}
    squares = {name: squares[name] + 0.01 * (gradient[name] ** 2 - squares[name]) for name in params}
    new = {}
    for name, param in params.items():
        mean, square = means[name] / (1 - 0.9**number), squares[name] / (1 - 0.99**number)
        new[name] = param - 0.003 * mean / (tf.sqrt(square) + 1e-8)
    return new, means, squares, value
