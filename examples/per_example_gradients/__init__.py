"""Gradients per example: all lanes at once (`vectorized_map`) instead of a loop over the lanes (`map_fn`)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import np2tf
from examples.common.cases import COMPILED, Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.per_example_gradients import by_tensorflow, source

INPUTS, HIDDEN, CLASSES = 32, 64, 2


def cases(quick: bool) -> Iterator[Case]:
    """Yield the gradients of a thousand examples."""
    examples = 40 if quick else 1000
    rng = np.random.default_rng(0)
    x, labels = rng.normal(size=(examples, INPUTS)), np.eye(CLASSES)[rng.integers(0, CLASSES, examples)]
    w1, w2 = rng.normal(size=(INPUTS, HIDDEN)) / 6, rng.normal(size=(HIDDEN, CLASSES)) / 8
    args = w1, x, labels, w2
    per_example = np2tf.vmap(np2tf.grad(source.loss), (None, 0, 0, None))
    by_hand = np2tf.jit(np2tf.translate(source.gradients), tier="compile")
    calls = {
        **numpy_call(source.gradients, *args),
        "np2tf, NumPy's loop compiled": np2tf_calls(by_hand, by_hand, *args)[COMPILED],
        "np2tf.vmap of np2tf.grad": lambda: per_example(*args),
        COMPILED: np2tf_calls(per_example, np2tf.jit(per_example, tier="compile"), *args)[COMPILED],
        **{
            f"tf.map_fn: {label}": call
            for label, call in tensorflow_calls(by_tensorflow.one_by_one, *args).items()
        },
        **{
            f"tf.vectorized_map: {label}": call
            for label, call in tensorflow_calls(by_tensorflow.at_once, *args).items()
        },
        **jax_call("examples.per_example_gradients.by_jax", "gradients", *args),
    }
    yield Case("gradients per example", f"{examples:,}", calls)
