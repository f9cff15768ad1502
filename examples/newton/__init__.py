"""Newton's method: the Hessian of a NumPy loss, in a compiled loop."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.newton import by_tensorflow, source
from examples.newton.source import loss


def newton(w: Any, x: Any, labels: Any, steps: int) -> Any:
    """Return the weights after some steps of Newton's method."""
    for _ in range(steps):
        hessian = np2tf.hessian(loss)(w, x, labels)
        w = w - np.linalg.solve(hessian, np2tf.grad(loss)(w, x, labels))
    return w


def cases(quick: bool) -> Iterator[Case]:
    """Yield the method for each number of weights."""
    eager, compiled = np2tf.translate(newton), np2tf.jit(newton, tier="compile")
    steps = 2 if quick else 8
    for count in (3,) if quick else (10, 30, 100):
        rng = np.random.default_rng(0)
        x = rng.normal(size=(500, count))
        labels = (x @ rng.normal(size=count) + rng.normal(size=500) > 0).astype(float)
        args = np.zeros(count), x, labels, steps
        calls = {
            **numpy_call(source.newton_by_hand, *args),
            **np2tf_calls(eager, compiled, *args),
            **tensorflow_calls(functools.partial(by_tensorflow.newton, steps=steps), *args[:3]),
            **jax_call("examples.newton.by_jax", "newton", *args),
        }
        yield Case(f"Newton's method, {steps} steps, by the number of weights", str(count), calls)
