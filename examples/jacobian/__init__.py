"""Jacobians: all rows at once (pfor) instead of a loop over the rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import np2tf
from examples.common.cases import TF_GRAPH, Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.jacobian import by_tensorflow, source


def cases(quick: bool) -> Iterator[Case]:
    """Yield the Jacobian for each length of the vector."""
    jacobian = np2tf.jacrev(source.network)
    compiled = np2tf.jit(jacobian, tier="compile")
    for size in (4, 8) if quick else (16, 64, 256):
        rng = np.random.default_rng(0)
        args = rng.normal(size=size), rng.normal(size=(6, size, size)) / np.sqrt(size)
        calls = {
            **numpy_call(source.jacobian, *args),
            **np2tf_calls(jacobian, compiled, *args),
            "tf.function, row by row": tensorflow_calls(by_tensorflow.row_by_row, *args)[TF_GRAPH],
            **tensorflow_calls(by_tensorflow.at_once, *args),
            **jax_call("examples.jacobian.by_jax", "jacobian", *args),
        }
        yield Case("Jacobian, by the length of the vector", str(size), calls)
