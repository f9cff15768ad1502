"""Functions that are saved as models, and functions that must not be."""

from __future__ import annotations

import numpy as np

WEIGHTS = np.arange(6.0).reshape(3, 2) / 7
LARGE = np.arange(200_000.0)
SEEN: list[float] = []


def dense(x, w):
    y = np.maximum(x @ w, 0.0) + 0.25
    return y / y.sum(axis=-1, keepdims=True)


def reads_weights(x):
    return x @ WEIGHTS


def reads_a_large_array(x):
    return LARGE[:3] * x + LARGE[-1]


def newton(x):
    y = x
    while np.abs(y * y - x).max() > 1e-12:
        y = 0.5 * (y + x / y)
    return y


def rows(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if x[i, 0] > 0:
            out[i] = x[i].sum() * i
    return out


def positive(x):
    return x[x > 0]


def structured(x):
    return np.sort(x, axis=0), {"mean": x.mean(), "rest": [x.min(), 3]}


def in_place(x):
    x[0] = 5.0
    return x * 2


def whole(x):
    return x // 2 + x % 3


def helper(x):
    return np.tanh(x) + len(x)


def calls(x, power=2):
    return helper(x) ** power


def checked(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return np.sqrt(x)


def picked(x, i):
    return x[i]


def complex_power(z):
    return np.abs(z) ** 2 + z.imag


#: name -> the inputs, and arguments with other lengths than any example has.
GOOD = {
    "dense": (["x: f64[?, 3]", "w: f64[3, 2]"], [np.arange(15.0).reshape(5, 3), np.ones((3, 2))]),
    "reads_weights": (["f64[?, 3]"], [np.arange(12.0).reshape(4, 3)]),
    "reads_a_large_array": (["f64"], [np.float64(1.5)]),
    "newton": (["f64[?]"], [np.arange(1.0, 8.0)]),
    "rows": (["f64[?, ?]"], [np.sin(np.arange(12.0)).reshape(4, 3)]),
    "positive": (["f32[?]"], [np.sin(np.arange(9, dtype=np.float32))]),
    "structured": (["f64[?]"], [np.cos(np.arange(7.0))]),
    "in_place": (["f64[?]"], [np.arange(4.0)]),
    "whole": (["i32[?]"], [np.arange(-5, 6, dtype=np.int32)]),
    "calls": (["x: f64[?]"], [np.arange(3.0)]),
    "checked": (["f64[?]"], [np.arange(3.0)]),
    "picked": (["f64[?]", "i64"], [np.arange(3.0), np.int64(-1)]),
    "complex_power": (["c128[?]"], [np.arange(3) * (1 + 2j)]),
}


def prints(x):
    print("the sum is", x.sum())
    return x * 2


def helper_that_prints(x):
    print(x)
    return x


def prints_deep(x):
    return helper_that_prints(x) + 1


def draws(x):
    return x + np.random.normal(size=3)


GENERATOR = np.random.default_rng(0)


def draws_own(x):
    return x + GENERATOR.normal(size=3)


def shows(x):
    return f"{x.sum():.2f}"


def writes_elsewhere(x):
    WEIGHTS[0, 0] = 1.0
    return x + WEIGHTS[0, 0]


def collects(x):
    SEEN.append(1.0)
    return x


class Counter:
    def __init__(self):
        self.total = np.zeros(1)

    def add(self, x):
        self.total[0] += x
        return self.total[0]


COUNTER = Counter()
counts = COUNTER.add


def eigenvalues(a):
    return np.linalg.eigvals(a)


def writes_a_file(x):
    np.savetxt("never.txt", x)
    return x


#: name -> the inputs, and the code of the refusal.
BAD = {
    "prints": (["f64[?]"], "NP2TF556"),
    "prints_deep": (["f64[?]"], "NP2TF556"),
    "draws": (["f64[3]"], "NP2TF506"),
    "draws_own": (["f64[3]"], "NP2TF558"),
    "shows": (["f64[?]"], "NP2TF558"),
    "writes_elsewhere": (["f64"], "NP2TF539"),
    "counts": (["f64"], "NP2TF558"),
    "collects": (["f64"], "NP2TF553"),
    "eigenvalues": (["f64[3, 3]"], "NP2TF503"),
    "writes_a_file": (["f64[?]"], "NP2TF539"),
}
