"""Sigmoid and GELU over sizes: operation by operation, and compiled into one loop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.gelu import by_tensorflow, source

SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)


def cases(quick: bool) -> Iterator[Case]:
    """Yield both functions at each size."""
    for name in ("sigmoid", "gelu"):
        function = getattr(source, name)
        eager, compiled = np2tf.translate(function), np2tf.jit(function, tier="compile")
        for size in SIZES[:2] if quick else SIZES:
            x = np.random.default_rng(0).normal(size=size)
            calls = {
                **numpy_call(function, x),
                **np2tf_calls(eager, compiled, x),
                **tensorflow_calls(getattr(by_tensorflow, name), x),
                **jax_call("examples.gelu.by_jax", name, x),
            }
            yield Case(name, f"{size:,}", calls)
