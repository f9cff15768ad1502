"""Solve a lower triangular system by forward substitution."""

import numpy as np

SIZE = 6000
SMALL = 15


def initialise(size):
    rng = np.random.default_rng(4)
    lower = np.tril(rng.random((size, size))) / size + np.eye(size)
    return lower, rng.random(size)


def kernel(lower, b):
    x = np.zeros_like(b)
    for i in range(len(b)):
        x[i] = (b[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x
