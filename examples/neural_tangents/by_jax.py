"""The kernels as a user of JAX writes them: the NumPy functions with `jax.numpy`, and JAX's transforms."""

from __future__ import annotations

import types
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from examples.neural_tangents import source


def _with_jax() -> types.SimpleNamespace:
    """Return the functions of the NumPy source over JAX's arrays."""
    names: dict[str, Any] = {"np": jnp}
    for name, value in vars(source).items():
        if isinstance(value, types.FunctionType):
            names[name] = types.FunctionType(value.__code__, names, name)
    return types.SimpleNamespace(**names)


_functions = _with_jax()
posterior = _functions.posterior
gradient = jax.grad(_functions.likelihood)


def tangents(params: Any, x: Array) -> Array:
    """Return the tangent kernel of a finite network by gradients per example."""
    first, second = jax.vmap(jax.grad(_functions.finite), (None, 0))(params, x)
    first = first.reshape(len(x), -1)
    return first @ first.T + second @ second.T
