"""Loops that write to an array, and then bind the name to a new one: the old array has the first write."""

from __future__ import annotations

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import HEAD, compare, load, translation

#: name -> (the body of f(x, v, n), its arguments)
ROWS = {
    "a periodic box": (
        """
        for k in range(n):
            x += v
            x = x % 1.0
        return x
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "no iteration": (
        """
        for k in range(n):
            x += v
            x = x % 1.0
        x *= 2
        return x
        """,
        "np.linspace(0, 1, 7), 0.3, 0",
    ),
    "another name has the old array": (
        """
        y = x
        for k in range(n):
            x += v
            x = np.where(x > 1, x - 1, x)
        y += 1
        return x, y
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "an array of the function's own": (
        """
        x = x * 2
        y = x
        for k in range(n):
            x[1:] += v
            x = np.cos(x)
        return x, y, y is x
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "a while": (
        """
        t = 0.0
        while t < n:
            x *= 0.9
            x -= v
            t += 1.5
            x = np.abs(x)
        return x, t
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "a break before the new array": (
        """
        for k in range(n):
            x += v
            if x.sum() > 8:
                break
            x = x * 0.5
        return x, k
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "a write under a condition": (
        """
        for k in range(n):
            if x[0] > 0.5:
                x += v
            x = x * 0.9 + 0.2
        return x
        """,
        "np.linspace(0.6, 1, 7), 0.3, 20",
    ),
    "two arrays, of which one is only written": (
        """
        w = np.ones(7)
        for k in range(n):
            w += x * v
            x += w * 0.01
            x = np.mod(x, 1.0)
            w -= x
        return x, w
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "a loop inside": (
        """
        for k in range(n):
            for j in range(12):
                x += v * j
                x = x % 1.0
            x += 0.5
            x = x * 0.5
        return x
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "a part of an argument": (
        """
        y = x[1:]
        for k in range(n):
            y += v
            y = y % 1.0
        return x, y
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "the new array is a view of the old one": (
        """
        for k in range(n):
            x += v
            x = x[::-1]
        return x
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "the new array is sometimes the old one": (
        """
        for k in range(n):
            x += v
            if k % 3 == 0:
                x = x * 0.5
        return x
        """,
        "np.linspace(0, 1, 7), 0.3, 20",
    ),
    "integers": (
        """
        for k in range(n):
            x += 3
            x = x % 7
        return x
        """,
        "np.arange(7), 0.3, 20",
    ),
}

#: What is left behind must be a whole array.
ON_HOST = frozenset({"a part of an argument"})


@pytest.mark.parametrize("name", ROWS)
def test_as_numpy(name: str) -> None:
    body, arguments = ROWS[name]
    ran = None if name in ON_HOST else "compiled"
    compare(f"{HEAD}def f(x, v, n):{body}", arguments, ran=ran)


def test_a_periodic_box_is_compiled() -> None:
    """Also if the arrays are attributes of an object."""
    source = """
class Box:
    def __init__(self):
        self.x, self.v = np.linspace(0, 1, 50), np.full(50, 0.3)

    def run(self, n):
        for k in range(n):
            self.v -= self.x * 0.1
            self.x += self.v
            self.x = self.x % 1.0


def f(n):
    box = Box()
    first = box.x
    run(box, n)
    return box.x, box.v, first


def run(box, n):
    for k in range(n):
        box.v -= box.x * 0.1
        box.x += box.v
        box.x = box.x % 1.0
"""
    names: dict[str, object] = {}
    exec(HEAD + source, names)
    ours = load(translation(HEAD + source))
    with np2tf.config.using(tier="compile"):
        found, expected = ours["f"](30), names["f"](30)
        box, plain = ours["Box"](), names["Box"]()
        first, plain_first = box.x, plain.x
        ours["run"](box, 30)
        names["run"](plain, 30)
        box.run(30)
        plain.run(30)
    for a, b in zip((*found, box.x, box.v, first), (*expected, plain.x, plain.v, plain_first), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert ours["run"].compiled_count > 0
