"""Loops over planes `x[..., k]`: XLA gets the arrays with the axis in front; the results are NumPy's."""

from __future__ import annotations

import re

import numpy as np
import pytest

import np2tf
from np2tf.staging.xla import plane_order
from tests.helpers.differential import HEAD, compare, load, translation


@pytest.fixture(autouse=True)
def _small_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plane_order, "LARGE_BYTES", 2**12)


#: Statements of a function of two arrays of 20 × 20 × 44 and a length of 44.
BODIES = {
    "there and back": """
    for k in range(1, n):
        x[:, :, k] = x[:, :, k] - 0.5 * y[:, :, k] * x[:, :, k - 1]
    for k in range(n - 2, -1, -1):
        x[:, :, k] -= y[:, :, k] * x[:, :, k + 1]
    return x
""",
    "both written": """
    for k in range(1, n):
        x[:, :, k], y[:, :, k] = y[:, :, k - 1] + k, x[:, :, k - 1] - k
    return x, y
""",
    "branches": """
    for k in range(n):
        right = x[:, :, k + 1] if k < n - 1 else 0.0 * x[:, :, k]
        if k > 0:
            right = right - y[:, :, k - 1]
        y[:, :, k] = right / 3.0
    return y
""",
    "writes in branches": """
    for k in range(n):
        if k < 2:
            y[:, :, k] = x[:, :, k]
        else:
            y[:, :, k] = x[:, :, k] + 0.5 * y[:, :, k - 1]
    return y
""",
    "numbers of planes": """
    total = 0.0
    for k in range(n):
        largest = x[:, :, k].max()
        x[:, :, k] = x[:, :, k] / largest
        total += largest
    return total, x
""",
    "new array": """
    z = np.zeros_like(x)
    for k in range(n):
        z[:, :, k] = x[:, :, n - 1 - k] * 2.0
    return z
""",
    "also other parts": """
    for k in range(n):
        x[:, :, k] += x[0, 0, 0] + y[3].sum()
        y[:, 0, k] = 1.0
    return x, y
""",
    "also the whole": """
    for k in range(n):
        x[:, :, k] += 0.01 * (x * y).sum()
    return x
""",
    "views": """
    view = x.reshape(400, 44)
    for k in range(n):
        view[:, k] *= 1.5
    return x[1:], view
""",
    "another loop inside": """
    for k in range(1, n):
        for j in range(3):
            x[:, :, k] += 0.1 * j * x[:, :, k - 1]
    return x
""",
    "in another loop": """
    for j in range(3):
        for k in range(1, n):
            x[:, :, k] += 0.1 * j * y[:, :, k - 1]
        y = y + x
    return x, y
""",
    "names change places": """
    for k in range(1, n):
        x[:, :, k] += y[:, :, k - 1]
        x, y = y, x
    return x, y
""",
    "rows in the middle": """
    for k in range(1, 20):
        x[:, k, :] += x[:, k - 1, :]
    return x
""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_as_numpy(body: str) -> None:
    arrays = "np.linspace(0.1, 1, 17600).reshape(20, 20, 44)"
    compare(HEAD + f"def f(x, y, n):{body}", f"{arrays}, {arrays} * 2.0 - 0.5, 44")


@pytest.mark.parametrize("dtype", ["float32", "int64", "complex128", "bool"])
def test_other_dtypes(dtype: str) -> None:
    source = (
        "def f(x, n):\n    for k in range(1, n):\n        x[:, k] = x[:, k] * x[:, k - 1]\n    return x\n"
    )
    compare(HEAD + source, f"(np.arange(20000) % 3).reshape(200, 100).astype({dtype!r}), 100")


def test_gradient() -> None:
    """The planes are written in a loop that a tape follows."""
    source = """
def f(x, y):
    for k in range(1, 100):
        x[:, k] += y[:, k] * x[:, k - 1]
    return (x * x).sum()
"""
    kernel = load(translation(HEAD + source))["f"]
    rng = np.random.default_rng(1)
    arrays = [rng.random((200, 100)), rng.random((200, 100))]
    with np2tf.config.using(tier="compile"):
        slopes = np2tf.grad(lambda x, y: kernel(x * 1.0, y), argnums=(0, 1))(*arrays)
    for place in (0, 1):
        for column in (0, 50, 98):
            step = np.zeros((200, 100))
            step[7, column] = 1e-6
            ends = [
                load(HEAD + source)["f"](*[a + sign * step * (k == place) for k, a in enumerate(arrays)])
                for sign in (-1, 1)
            ]
            slope = np.asarray(slopes[place])[7, column]
            np.testing.assert_allclose(slope, (ends[1] - ends[0]) / 2e-6, rtol=1e-3, atol=1e-4)


def test_an_index_out_of_bounds() -> None:
    source = "def f(x, n):\n    for k in range(n):\n        x[:, k] += x[:, k + 1]\n    return x\n"
    compare(HEAD + source, "np.ones((200, 100)), 100", ran=None)


def test_loops_of_unknown_length_keep_the_order() -> None:
    """The inner loop of Gram-Schmidt takes fewer columns each time: it would move all of them each time."""
    source = """
def f(x, n):
    for k in range(n):
        for j in range(k + 1, n):
            x[:, j] -= x[:, k] * (x[:, k] @ x[:, j])
    return x
"""
    kernel = load(translation(HEAD + source))["f"]
    with np2tf.config.using(tier="compile"):
        code = kernel.lower(np.ones((200, 100)), 100)
    assert "f64[100,200]" not in code.hlo(optimized=True)


@pytest.mark.parametrize(("rounds", "planes"), [(99, True), (20, False)])
def test_the_order_in_the_program(rounds: int, planes: bool) -> None:
    """A loop over few of the planes would not gain."""
    source = f"""
def f(x, y):
    for k in range({rounds}):
        x[:, k + 1] += y[:, k] * x[:, k]
    return x
"""
    kernel = load(translation(HEAD + source))["f"]
    with np2tf.config.using(tier="compile"):
        code = kernel.lower(np.ones((200, 100)), np.ones((200, 100)))
    loop = re.search(r"while\S* = \(([^)]*)\) while\(", code.hlo(optimized=True))
    assert loop is not None
    assert loop[1].count("f64[100,200]") == (2 if planes else 0)
