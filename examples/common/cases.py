"""A case: calls that compute the same, and the functions that make the usual calls."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf

import np2tf

NUMPY = "NumPy"
EAGER = "np2tf, eager"
COMPILED = "np2tf, compiled"
TF_EAGER = "TensorFlow, eager"
TF_GRAPH = "tf.function"
TF_XLA = "tf.function, XLA"
JAX = "jax.jit"

#: The label of a system -> a call without arguments that returns the result.
Calls = dict[str, Callable[[], Any]]


@dataclass
class Case:
    """Calls that compute the same.

    Attributes:
        panel: the name of the table and of the picture that the case belongs to.
        size: the head of the case's column.
        calls: the calls; all results must equal the result of the first call.
        tolerance: the relative difference that rounding may cause.
    """

    panel: str
    size: str
    calls: Calls
    tolerance: float = 1e-9


def numpy_call(function: Callable[..., Any], *args: Any) -> Calls:
    """Return the call of a plain NumPy function."""
    return {NUMPY: lambda: function(*args)}


def np2tf_calls(eager: Callable[..., Any], compiled: Callable[..., Any], *args: Any) -> Calls:
    """Return two calls of translated functions.

    Args:
        eager: a function that runs operation by operation, with arrays on TensorFlow.
        compiled: a jitted function; its arguments and results are NumPy's arrays.
        *args: the arguments.

    Raises:
        StagingError: the jitted function cannot be compiled.
    """
    on_tensorflow = tf.nest.map_structure(np2tf.device_put, args)

    def call_eagerly() -> Any:
        with np2tf.config.using(eager="tensorflow", jit="off"):
            return eager(*on_tensorflow)

    with np2tf.config.using(jit="strict"):
        compiled(*args)
    return {EAGER: call_eagerly, COMPILED: lambda: compiled(*args)}


def tensorflow_calls(function: Callable[..., Any], *args: Any) -> Calls:
    """Return three calls of a function over tensors: eager, as a graph, and compiled by XLA."""
    tensors = tf.nest.map_structure(tf.constant, args)
    graph, xla = (
        tf.function(function, autograph=False),
        tf.function(function, jit_compile=True, autograph=False),
    )
    return {
        TF_EAGER: lambda: function(*tensors),
        TF_GRAPH: lambda: graph(*tensors),
        TF_XLA: lambda: xla(*tensors),
    }


def jax_call(module: str, function: str, *args: Any) -> Calls:
    """Return the call of a jitted function of JAX.

    Args:
        module: the full name of the module that imports JAX.
        function: the name of the function in it.
        *args: the arguments, which become arrays of JAX.

    Returns:
        No call if JAX is not installed.
    """
    if not has_jax():
        return {}
    import jax

    jitted = jax.jit(getattr(importlib.import_module(module), function))
    arrays = tf.nest.map_structure(jax.numpy.asarray, args)
    return {JAX: lambda: jitted(*arrays)}


@cache
def has_jax() -> bool:
    """Return whether JAX is installed. If so, it has float64 from now on."""
    try:
        import jax
    except ImportError:
        return False
    jax.config.update("jax_enable_x64", True)
    return True


def on_host(result: Any) -> list[np.ndarray]:
    """Return the arrays of a result, in order; wait until they are computed."""
    return [np.asarray(leaf) for leaf in tf.nest.flatten(result)]
