"""Several `np.roll` of one array in a loop: the same results, and one array with a margin in the program."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import HEAD, compare, load, translation

#: Statements of a loop over k; `x` is 70 × 80.
STATEMENTS = {
    "four neighbours": "x = 0.2 * (x + roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1))",
    "corners": "x = roll(roll(x, 1, 0), 1, 1) - roll(roll(x, -1, 0), 1, 1) + roll(x, (2, -3), (0, 1)) * 0.5",
    "there and back": "x = roll(roll(x, 3, 0), -2, 0) + roll(x, -1, 0) - roll(roll(x, 1, 1), -1, 1)",
    "far": "x = roll(x, 35, 0) + roll(x, 1, 0) - roll(x, -1, 0)",
    "of a new array": "y = x * k; x = roll(y, 1, 0) - roll(y, 2, 0) + roll(y, -1, 1) + y",
    "in a loop's result": "z = roll(x, 1, 0); x = z + roll(z, 1, 0) + roll(x, -1, 0)",
    "written": "x[1:, :] = roll(x, 1, 0)[1:] + roll(x, 1, 1)[1:] - roll(x, -1, 1)[1:]",
    "joined parts": "x = join([x[3:], x[:3]]) + join([x[-2:], x[:-2]]) - join([x[5:], x[:5]])",
    "other parts": "x = join([x[4:], x[1:5]]) + join([x[:35], x[:35]]) - join([x[35:], x[1:36]])",
}


@pytest.mark.parametrize("statement", STATEMENTS.values(), ids=STATEMENTS)
def test_as_numpy(statement: str) -> None:
    source = f"""
roll, join = np.roll, np.concatenate
def f(x):
    z = x
    for k in range(6):
        {statement}
    return x, z
"""
    compare(HEAD + source, "np.cos(np.arange(5600.0)).reshape(70, 80)")


@pytest.mark.parametrize("dtype", ["int64", "float32", "bool"])
def test_other_dtypes(dtype: str) -> None:
    both, either = ("*", "+") if dtype == "float32" else ("&", "|")
    source = f"""
def f(x):
    for k in range(6):
        x = np.roll(x, 1, 0) {either} np.roll(x, -1, 0) {both} np.roll(x, 1, 1)
    return x
"""
    compare(HEAD + source, f"(np.arange(5600) % 7 % 2).reshape(70, 80).astype({dtype!r})")


def test_one_array_in_the_program() -> None:
    source = """
def f(x):
    for k in range(9):
        x = x + np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1)
    return x
"""
    kernel = load(translation(HEAD + source))["f"]
    with np2tf.config.using(tier="compile"):
        code = kernel.lower(np.ones((200, 100)))
    assert "f64[202,102]" in code.hlo(optimized=True)
