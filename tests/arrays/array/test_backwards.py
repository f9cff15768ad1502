"""Slices that go backwards from or to places known at run time, and parts of such length reversed."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import HEAD, compare, load, translation
from tests.helpers.selections import every_second

PLACES = (-9, -7, -3, -1, 0, 1, 4, 6, 7, 8)
#: Of a vector `x` of seven elements and an index `k` from -9 to 8.
SLICES = """
x[k::-1]
x[:k:-1]
x[k - 1::-1]
x[k:1:-1]
x[5:k:-1]
x[k:k - 3:-1]
x[k - 2:-k:-1]
x[:k][::-1]
x[k:][::-1]
x[::-1][:k]
x[::-1][k::-1]
x[None, k::-1]
x[k::-1, None]
""".strip().splitlines()


@pytest.mark.parametrize("taken", every_second(SLICES))
def test_reading(taken: str) -> None:
    source = f"def f(x, k):\n    k = k + int(x[0])\n    return {taken} * 2, ({taken} + 1).sum()\n"
    compare(HEAD + source, *[f"np.arange(7.), {k}" for k in PLACES])


@pytest.mark.parametrize("taken", every_second(SLICES))
def test_writing(taken: str) -> None:
    source = f"def f(x, k):\n    k = k + int(x[0])\n    {taken} = 5\n    {taken} += 1\n    return x\n"
    compare(HEAD + source, *[f"np.arange(7.), {k}" for k in PLACES])


LOOPS = [
    "y[:k] += x[k] * np.flip(y[:k])",
    "y[k] = np.flip(x[:k]) @ y[:k]",
    "y[k] = x[k - 1::-1] @ y[:k]",
    "y[k] = y[:k][::-1] @ x[:k] - x[k:0:-1].max()",
    "y[:k] = x[:k][::-1] * y[:k]",
    "y[k] = (x[k:][::-1] * y[k:]).sum()",
]


@pytest.mark.parametrize("body", LOOPS)
def test_loops_are_one_program(body: str) -> None:
    source = (
        f"def f(x):\n    y = np.ones_like(x)\n    for k in range(1, len(x)):\n        {body}\n    return y\n"
    )
    x = np.linspace(0.1, 1, 40)
    function = load(translation(HEAD + source))["f"]
    with np2tf.config.using(tier="compile"):
        assert np.allclose(function(x), load(HEAD + source)["f"](x))
        assert " xla" in str(function.explain(x)).splitlines()[0]
