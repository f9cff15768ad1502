"""An LSTM cell of ten units: one graph instead of many small operations; and a loop of the cell."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import np2tf
from examples.common.cases import Case, jax_call, np2tf_calls, numpy_call, tensorflow_calls
from examples.lstm import by_tensorflow, source

UNITS = 10


def cases(quick: bool) -> Iterator[Case]:
    """Yield one step, and many steps."""
    rng = np.random.default_rng(0)
    kernel, recurrent = rng.normal(size=(2, UNITS, 4 * UNITS)) / 3
    weights = kernel, recurrent, rng.normal(size=4 * UNITS)
    h, c = np.zeros((2, UNITS, UNITS))
    xs = rng.normal(size=(5 if quick else 200, UNITS, UNITS))
    for name, x in (("cell", xs[0]), ("layer", xs)):
        function = getattr(source, name)
        eager, compiled = np2tf.translate(function), np2tf.jit(function, tier="compile")
        calls = {
            **numpy_call(function, x, h, c, *weights),
            **np2tf_calls(eager, compiled, x, h, c, *weights),
            **tensorflow_calls(getattr(by_tensorflow, name)(weights), x, h, c),
            **jax_call("examples.lstm.by_jax", name, x, h, c, *weights),
        }
        size = "one step" if name == "cell" else f"{len(xs)} steps"
        yield Case(f"LSTM of ten units, {size}", "10 × 10", calls)
