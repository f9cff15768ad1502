"""The kernels as a user of TensorFlow writes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

State = tuple[tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor]
Layer = Callable[..., State]


def inputs(x1: tf.Tensor, x2: tf.Tensor) -> State:
    """Return the kernel of the inputs."""
    nngp = tf.matmul(x1, x2, transpose_b=True) / x1.shape[1]
    return nngp, tf.zeros_like(nngp), tf.reduce_mean(x1**2, axis=1), tf.reduce_mean(x2**2, axis=1)


def dense(w: tf.Tensor, b: tf.Tensor) -> Layer:
    """Return a layer of weights."""

    def layer(nngp: tf.Tensor, ntk: tf.Tensor, v1: tf.Tensor, v2: tf.Tensor) -> State:
        nngp = w**2 * nngp + b**2
        return nngp, w**2 * ntk + nngp, w**2 * v1 + b**2, w**2 * v2 + b**2

    return layer


def relu(nngp: tf.Tensor, ntk: tf.Tensor, v1: tf.Tensor, v2: tf.Tensor) -> State:
    """Return the kernel behind rectifiers."""
    norms = tf.sqrt(v1[:, None] * v2)
    cosine = tf.clip_by_value(nngp / norms, -1, 1)
    angle = math.pi - tf.acos(cosine)
    nngp = norms / (2 * math.pi) * (tf.sqrt(1 - cosine**2) + angle * cosine)
    return nngp, ntk * angle / (2 * math.pi), v1 / 2, v2 / 2


def erf(nngp: tf.Tensor, ntk: tf.Tensor, v1: tf.Tensor, v2: tf.Tensor) -> State:
    """Return the kernel behind error functions."""
    norms = (1 + 2 * v1)[:, None] * (1 + 2 * v2)
    ntk = ntk * 4 / math.pi / tf.sqrt(norms - 4 * nngp**2)
    v1, v2 = (2 / math.pi * tf.asin(2 * v / (1 + 2 * v)) for v in (v1, v2))
    return 2 / math.pi * tf.asin(2 * nngp / tf.sqrt(norms)), ntk, v1, v2


def kernel(layers: Sequence[Layer], x1: tf.Tensor, x2: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Return both kernels behind the layers."""
    state = inputs(x1, x2)
    for layer in layers:
        state = layer(*state)
    return state[:2]


def posterior(x: tf.Tensor, y: tf.Tensor, new: tf.Tensor, w: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
    """Return the predictions."""
    layers = [dense(w, b), relu, dense(w, b), relu, dense(w, b)]
    tangent = kernel(layers, x, x)[1] + 1e-3 * tf.eye(x.shape[0], dtype=x.dtype)
    return tf.linalg.matvec(kernel(layers, new, x)[1], tf.linalg.solve(tangent, y[:, None])[:, 0])


def gradient(stds: tf.Tensor, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
    """Return the gradient of the likelihood."""
    with tf.GradientTape() as tape:
        tape.watch(stds)
        w, b = tf.unstack(stds)
        covariance = kernel([dense(w, b), erf, dense(w, b)], x, x)[0] + 1e-2 * tf.eye(
            x.shape[0], dtype=x.dtype
        )
        root = tf.linalg.cholesky(covariance)  # XLA has no `slogdet`
        fit = tf.reduce_sum(y * tf.linalg.cholesky_solve(root, y[:, None])[:, 0])
        value = 0.5 * fit + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)))
    return tape.gradient(value, stds)


def tangents(params: Any, x: tf.Tensor) -> tf.Tensor:
    """Return the tangent kernel of a finite network by gradients per example."""

    def gradient_of_one(one: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(params)
            value = tf.nn.relu(one[None] @ params[0]) @ params[1][:, None]
        return tape.gradient(value, params)

    first, second = tf.vectorized_map(gradient_of_one, x)
    first = tf.reshape(first, (x.shape[0], -1))
    return tf.matmul(first, first, transpose_b=True) + tf.matmul(second, second, transpose_b=True)
