"""Cholesky factor, element by element."""

import numpy as np

SIZE = 200
SMALL = 10


def initialise(size):
    rng = np.random.default_rng(7)
    a = rng.standard_normal((size, size))
    return (a @ a.T + size * np.eye(size),)


def kernel(a):
    n = a.shape[0]
    lower = np.zeros_like(a)
    for i in range(n):
        for j in range(i):
            lower[i, j] = (a[i, j] - lower[i, :j] @ lower[j, :j]) / lower[j, j]
        lower[i, i] = np.sqrt(a[i, i] - lower[i, :i] @ lower[i, :i])
    return lower
