"""Kernels of wide networks in the style of Neural Tangents: predictions, training, gradients per example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.neural_tangents import by_tensorflow, source

translated = np2tf.import_module("examples.neural_tangents.source")


def tangents(params: Any, x: Any) -> Any:
    """Return the tangent kernel of a finite network by gradients per example."""
    first, second = np2tf.vmap(np2tf.grad(translated.finite), (None, 0))(params, x)
    first = first.reshape(len(x), -1)
    return first @ first.T + second @ second.T


def data(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and values of a smooth function."""
    x = np.random.default_rng(0).normal(size=(count, 5))
    return x, np.sin(2 * x[:, 0]) + 0.5 * x[:, 1] * x[:, 2]


def cases(quick: bool) -> Iterator[Case]:
    """Yield predictions, the gradient of the likelihood, and the kernel of a finite network."""
    count = 10 if quick else 200
    x, y = data(count)
    new = np.random.default_rng(1).normal(size=(count // 2, 5))
    stds = np.float64(1.5), np.float64(0.1)
    gradient = np2tf.grad(translated.likelihood)
    rng = np.random.default_rng(2)
    params = rng.normal(size=(5, 64)), rng.normal(size=64) / 8
    rows: list[tuple[str, str, Any, Any, tuple[Any, ...]]] = [
        (
            "predictions of a wide network",
            "posterior",
            source.posterior,
            translated.posterior,
            (x, y, new, *stds),
        ),
        ("gradient of the likelihood", "gradient", None, gradient, (np.array(stds), x, y)),
        ("tangent kernel of a finite network", "tangents", source.tangents_by_hand, tangents, (params, x)),
    ]
    for panel, name, by_hand, function, args in rows:
        calls = {
            **(numpy_call(by_hand, *args) if by_hand else {}),
            **np2tf_calls(function, np2tf.jit(function, tier="compile"), *args),
            **tensorflow_calls(getattr(by_tensorflow, name), *args),
            **jax_call("examples.neural_tangents.by_jax", name, *args),
        }
        yield Case(panel, f"{count} points", calls, tolerance=1e-7)


def notes(quick: bool) -> Iterator[str]:
    """Train the standard deviations, and yield the likelihoods."""
    x, y = data(20 if quick else 200)
    stds = np.array([0.5, 0.5])
    value_and_grad = np2tf.jit(np2tf.value_and_grad(translated.likelihood), tier="compile")
    values = []
    for _ in range(5 if quick else 100):
        value, gradient = value_and_grad(stds, x, y)
        values.append(float(value))
        stds = np.maximum(stds - 0.02 * gradient / np.linalg.norm(gradient), 0.01)
    yield f"negative log-likelihood: {values[0]:.1f} at first, {min(values):.1f} after training"
